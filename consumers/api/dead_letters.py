"""GET groups/{cluster}/{group}/dlq/"""

from typing import Any

from django.http.response import HttpResponseBase
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from consumers.models import ResendOutcome
from consumers.selectors.dead_letters.filter_query import TEXTS, TIMES
from consumers.selectors.dead_letters.filters import DeadLetterFilters
from consumers.selectors.dead_letters.listing import dead_letter_list
from consumers.selectors.dead_letters.resent import TRIED
from consumers.selectors.queues import find_group

from .found import group_missing
from .lists import Found, list_response
from .parameters import Paging, Ranged
from .schema import described


class DeadLetterParameters(Paging, Ranged):
    """`from` and `to`: when it was stored."""

    key = serializers.CharField(required=False, help_text="One whole key")
    key_part = serializers.CharField(required=False, help_text="A part of any key")
    tag = serializers.CharField(required=False)
    message_id = serializers.CharField(
        required=False, help_text="Its producer's id, the first message's, or that of the place where it is stored"
    )
    origin_topic = serializers.CharField(required=False)
    resent = serializers.BooleanField(required=False, help_text="true: it was, or may have been, sent again")


class ResentSerializer(serializers.Serializer[Any]):
    at = serializers.DateTimeField()
    by = serializers.CharField()
    result = serializers.ChoiceField([(value, ResendOutcome(value).label) for value in TRIED])
    resend = serializers.CharField(help_text="The id of the re-send")


class DeadLetterSerializer(serializers.Serializer[Any]):
    """A dead letter without its body. What it does not say is null: `unknown` says why."""

    broker = serializers.CharField()
    queue_id = serializers.IntegerField()
    offset = serializers.IntegerField()
    stored_id = serializers.CharField(help_text="Where it is stored: address of the broker and offset there")
    message_id = serializers.CharField(allow_null=True, help_text="Its producer's, the same at every attempt")
    origin_topic = serializers.CharField(allow_null=True)
    origin_message_id = serializers.CharField(allow_null=True)
    keys = serializers.CharField(allow_null=True, help_text="Separated by spaces")
    tags = serializers.CharField(allow_null=True)
    reconsume_times = serializers.IntegerField()
    born_at = serializers.DateTimeField()
    stored_at = serializers.DateTimeField()
    size = serializers.IntegerField(help_text="Bytes of the stored body")
    sent_by_application = serializers.BooleanField(allow_null=True, help_text="It died before its retries were used up")
    resent = ResentSerializer(many=True)
    unknown = serializers.DictField(child=serializers.CharField())


class CompletenessSerializer(serializers.Serializer[Any]):
    """`unknown_reason` says why the list is not, or may not be, whole; null where it is."""

    messages = serializers.IntegerField(allow_null=True, help_text="In the dead-letter queues of the group")
    indexed_messages = serializers.IntegerField(allow_null=True, help_text="Those that a list can hold: the newest")
    looked_at = serializers.DateTimeField(allow_null=True, help_text="As of when")
    unknown_reason = serializers.CharField(allow_null=True)
    unknown = serializers.DictField(child=serializers.CharField())


class DeadLetterListView(APIView):
    @described(
        "group_dead_letters",
        DeadLetterSerializer,
        parameters=DeadLetterParameters,
        paged=True,
        beside={"completeness": CompletenessSerializer()},
    )
    def get(self, request: Request, cluster: str, group: str) -> HttpResponseBase:
        """Dead letters of a group, newest first, without their bodies; and how complete the list is."""
        values = DeadLetterParameters.of(request)
        found = find_group(cluster, group)
        if found is None:
            raise group_missing(cluster, group)
        filters = DeadLetterFilters(
            **{field: values.get(name) for name, field in TIMES.items()},
            **{name: values.get(name) for name in (*TEXTS, "resent")},
        )
        paging = {name: values[name] for name in ("page", "page_size")}

        def find(page: int, page_size: int) -> Found:
            part = dead_letter_list(found, filters, page=page, page_size=page_size)
            beside = {"completeness": CompletenessSerializer(part.completeness).data}
            return Found(part.rows, part.count, beside, part.completeness.unknown_reason)

        return list_response(request, DeadLetterSerializer, find, **paging)
