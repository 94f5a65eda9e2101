"""Groups in REST: lists, single groups, their status, queues and history."""

from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.groups.listing import ORDERINGS, group_list
from consumers.groups.noted import label_of
from consumers.groups.queue_rows import QueueRow
from consumers.groups.rows import GroupDetail, GroupFilters, GroupRow, ListKind, group_places
from consumers.models import Cluster, HealthLevel, State, TopicKind
from consumers.pipeline.upkeep import STEPS
from consumers.queries.history import History, Point, Series, group_history
from consumers.queries.limits import why_not_evaluated
from consumers.queries.windows import MOST_WINDOWS
from consumers.rest.access import charge
from consumers.rest.answers import ListedRows, list_response, object_response, whole
from consumers.rest.problems import NotNow, found_group, group_missing
from consumers.rest.requests import PAGE, Choice, Moment, Paging, Parameters, narrowed, ordering_by, taken
from consumers.rest.schema import described, made_serializer

from .detail import GroupStatus, group_detail, group_status, queue_list

# Groups: GET groups/, groups/{cluster}/{group}/, its status/ and queues/.
ORDERING_CHOICES = [f"{sign}{column}" for column in sorted(ORDERINGS) for sign in ("", "-")]


class GroupParameters(Paging):
    cluster = serializers.CharField(required=False)
    search = serializers.CharField(required=False, help_text="A part of the group's name")
    state = Choice(list(State), required=False)
    health = Choice(HealthLevel.values, required=False)
    online = serializers.BooleanField(required=False)
    kind = Choice(
        [kind.value for kind in ListKind], default=ListKind.USER.value, help_text="`ghost`: inactive user groups"
    )
    firing = serializers.BooleanField(required=False, help_text="Whether an incident of it fires")
    topic = serializers.CharField(required=False, help_text="Has an offset in it, or subscribes to it")
    broker = serializers.CharField(required=False, help_text="Has an offset on a broker of this name")
    owner = serializers.CharField(required=False, help_text="As notes name it")
    # A serializer has an attribute of that name, too.
    label: Any = serializers.CharField(
        required=False, help_text="That notes give it: NAME=VALUE, or NAME for any value"
    )
    groups = serializers.CharField(
        required=False, help_text="Exactly these, of any kind: CLUSTER/GROUP, several separated by commas"
    )
    ordering = Choice(ORDERING_CHOICES, required=False, help_text="`-` for descending; unknown is last either way")

    def validate_label(self, text: str) -> str:
        try:
            label_of(text)
        except ValueError as wrong:
            raise serializers.ValidationError(str(wrong)) from None
        return text

    def validate_groups(self, text: str) -> tuple[tuple[str, str], ...]:
        """Names of groups have no slash and no comma (RocketMQ 5.4.0, TopicValidator)."""
        try:
            return group_places(text.split(","))
        except ValueError as wrong:
            raise serializers.ValidationError(str(wrong)) from None


class GroupListView(APIView):
    @described("groups", GroupRow, parameters=GroupParameters, paged=True)
    def get(self, request: Request) -> HttpResponseBase:
        """Consumer groups; filters and order work on what is shown."""
        values = GroupParameters.of(request)
        page, page_size = values.pop("page"), values.pop("page_size")
        filters = GroupFilters(names=values.pop("groups", None), **values)
        if filters.cluster and not Cluster.objects.filter(name=filters.cluster).exists():
            raise NotFound(gettext("There is no cluster %(cluster)s.") % {"cluster": repr(filters.cluster)})
        now = timezone.now()
        if filters.firing is not None and (late := why_not_evaluated(now)):
            raise NotNow(gettext("Firing groups are unknown: %(late)s.") % {"late": late})

        def find(page: int, page_size: int) -> ListedRows:
            found = group_list(filters, now=now, page=page, page_size=page_size)
            return ListedRows(found.rows, found.count)

        all_rows = settings.API_CSV_ROWS
        return list_response(request, GroupRow, find, page=page, page_size=page_size, at_once=all_rows)


class GroupView(APIView):
    @described("group", GroupDetail)
    def get(self, request: Request, cluster: str, group: str) -> Response:
        """One group with its topics, subscriptions, members, and the rule that decided, with its numbers."""
        Parameters.of(request)
        detail = group_detail(cluster, group, now=timezone.now())
        if detail is None:
            raise group_missing(cluster, group)
        return object_response(request, GroupDetail, detail)


class StatusView(APIView):
    @described("group_status", GroupStatus)
    def get(self, request: Request, cluster: str, group: str) -> Response:
        """The status of a group for alert rules: small and stable."""
        Parameters.of(request)
        status = group_status(cluster, group, now=timezone.now())
        if status is None:
            raise group_missing(cluster, group)
        return object_response(request, GroupStatus, status)


class QueueParameters(Paging):
    topic = serializers.CharField(required=False)
    kind = Choice(TopicKind.values, required=False)
    with_lag = serializers.BooleanField(required=False, help_text="true: has lag, or its lag is not known")
    broker = serializers.CharField(required=False)
    state = Choice(list(State), required=False)
    owner = serializers.CharField(required=False, help_text="Client id: it owns the queue, perhaps with others")
    ordering = ordering_by("lag_messages", "time_lag_seconds", "since", "topic", "broker")


class QueueListView(APIView):
    @described("group_queues", QueueRow, parameters=QueueParameters, paged=True)
    def get(self, request: Request, cluster: str, group: str) -> HttpResponseBase:
        """The queues of a group, in order of topic, broker and id where no other is asked for."""
        filters = QueueParameters.of(request)
        paging = taken(filters, *PAGE)
        found_group(cluster, group)
        wanted = taken(filters, "broker", "state", "ordering")
        rows = narrowed(queue_list(cluster, group, now=timezone.now(), **filters), wanted)
        return list_response(request, QueueRow, whole(rows), **paging)


# GET groups/{cluster}/{group}/history/
HOUR = timedelta(hours=1)

QUEUE_NAMES = ("topic", "broker", "queue_id")

# A sum over some queues of a topic is no sum of the topic.
NAMED_BY: dict[str, tuple[str, ...]] = {"group": (), "topic": ("topic",), "queue": QUEUE_NAMES}

MOST_QUEUE_ID = 2**31 - 1


class HistoryParameters(Parameters):
    since = "ISO 8601; default: an hour before `to`"
    to = Moment(required=False, help_text="ISO 8601; default: now")
    step = Choice(STEPS, required=False, help_text="Seconds; without it: as fits the range and its queues")
    by = Choice(("group", "topic", "queue"), default="group")
    topic = serializers.CharField(required=False, help_text="By topic or queue: of this topic alone")
    broker = serializers.CharField(required=False, help_text="By queue: of queues on this broker alone")
    queue_id = serializers.IntegerField(
        required=False, min_value=0, max_value=MOST_QUEUE_ID, help_text="By queue: of queues with this id alone"
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        values = super().validate(attrs)
        odd = [name for name in QUEUE_NAMES if name in values and name not in NAMED_BY[values["by"]]]
        if odd:
            sentence = gettext("Not valid with by=%(by)s. Use by=queue, or leave this out.") % {"by": values["by"]}
            raise serializers.ValidationError({odd[0]: [sentence]})
        return values


class PointSerializer(serializers.Serializer[Any]):
    at = serializers.DateTimeField()
    lag_messages = serializers.IntegerField(allow_null=True)
    time_lag_seconds = serializers.FloatField(allow_null=True)
    consume_rate = serializers.FloatField(allow_null=True)
    produce_rate = serializers.FloatField(allow_null=True)
    readings = serializers.IntegerField(allow_null=True)
    unknown_reason = serializers.CharField(allow_null=True, help_text="Why the window has no lag, and nothing else")
    unknown = serializers.DictField(child=serializers.CharField(), help_text="Why a window with a lag lacks others")
    complete = serializers.BooleanField(
        help_text="Aggregated to its end; otherwise it holds what was read of it so far"
    )

    def to_representation(self, point: Point) -> dict[str, Any]:
        """As the fields say, in a tenth of the time that they take: an answer has tens of thousands of them."""
        values = point._asdict()
        return values | {"at": _iso(point.at), "unknown": dict(point.unknown)}


@lru_cache(maxsize=MOST_WINDOWS)
def _iso(at: datetime) -> str:
    """Each series has the same times."""
    return at.isoformat().replace("+00:00", "Z")


SeriesSerializer = made_serializer(Series, points=PointSerializer(many=True))

HistorySerializer = made_serializer(History, series=SeriesSerializer(many=True))


class HistoryView(APIView):
    @described("group_history", HistorySerializer, parameters=HistoryParameters)
    def get(self, request: Request, cluster: str, group: str) -> Response:
        """Lag, time lag and rates over time, of the group, its topics or its queues.

        Queues × windows are HISTORY_POINTS at most, also by topic.
        """
        values, now = HistoryParameters.of(request), timezone.now()
        until = values.get("to", now)
        since = values.get("from", until - HOUR)
        history = group_history(
            cluster,
            group,
            since=since,
            until=until,
            now=now,
            step_seconds=values.get("step"),
            by=values["by"],
            named=taken(values, *QUEUE_NAMES),
        )
        if history is None:
            raise group_missing(cluster, group)
        charge(request, points=sum(len(series.points) for series in history.series))
        return object_response(request, HistorySerializer, history)
