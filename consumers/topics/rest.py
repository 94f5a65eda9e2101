"""GET topics/{cluster}/{topic}/"""

from django.utils import timezone
from django.utils.translation import gettext
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.rest.answers import object_response
from consumers.rest.requests import Parameters
from consumers.rest.schema import described
from consumers.topics.queries import TopicDetail

from .queries import find_topic, topic_detail


class TopicView(APIView):
    @described("topic", TopicDetail)
    def get(self, request: Request, cluster: str, topic: str) -> Response:
        """One topic with its brokers, what they allow, and the groups that consume it with their lag in it."""
        Parameters.of(request)
        found = find_topic(cluster, topic)
        if found is None:
            words = {"topic": repr(topic), "cluster": repr(cluster)}
            raise NotFound(gettext("There is no topic %(topic)s in cluster %(cluster)s.") % words)
        return object_response(request, TopicDetail, topic_detail(found, now=timezone.now()))
