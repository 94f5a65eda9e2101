"""GET groups/{cluster}/{group}/messages/{message}/attempts/"""

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.dead_letters.inspection import MAY_SEE
from consumers.jobs.asking import PATIENCE
from consumers.jobs.permissions import check
from consumers.rest.access import charge
from consumers.rest.answers import object_response
from consumers.rest.problems import answered, found_group
from consumers.rest.requests import Parameters
from consumers.rest.schema import described

from .queries import message_attempts
from .rows import MessageAttemptsRow
from .tasks import WantedMessage, ask_lookup, checked, lookup_answer, wait_for_answer

# What a look-up costs of the requests of a minute: that of ten.
POINTS = 20_000


class AttemptParameters(Parameters):
    topic = serializers.CharField(
        required=False, help_text="Of the original. Without it all topics of the group are searched"
    )


class MessageAttemptsView(APIView):
    @described("message_attempts", MessageAttemptsRow, parameters=AttemptParameters)
    def get(self, request: Request, cluster: str, group: str, message: str) -> Response:
        """The attempts of one message in a group, by its ID, the ID of a place, or a key.

        Brokers are asked at once, through their indexes: it takes up to 10 s. It wants the permission
        `view_message_body`, and each request is audited. Bodies are not answered.
        """
        values = AttemptParameters.of(request)
        found = found_group(cluster, group)
        check(request.user, MAY_SEE, cluster)
        wanted = checked(WantedMessage(cluster, group, message, values.get("topic")))
        charge(request, points=POINTS)
        key = ask_lookup(request.user, wanted, timezone.now())
        wait_for_answer(key)
        copies = answered(lookup_answer(key, wanted), PATIENCE)
        return object_response(request, MessageAttemptsRow, message_attempts(found, copies))
