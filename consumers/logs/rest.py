"""GET groups/{cluster}/{group}/log-events/"""

from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.views import APIView

from consumers.rest.answers import ListedRows, list_response
from consumers.rest.problems import found_group
from consumers.rest.requests import PAGE, Choice, Paging, Ranged, taken
from consumers.rest.schema import described, read_serializer
from consumers.rest.watched import Watched
from consumers.vocabulary.logs import LogCode

from .coverage import log_coverage
from .queries import LogEventRow, log_event_page


class LogEventParameters(Paging, Ranged):
    """`from` and `to`: events that were going on in [from, to)."""

    code = Choice(LogCode, required=False)


class LogEventListView(APIView):
    @described(
        "group_log_events",
        LogEventRow,
        parameters=LogEventParameters,
        paged=True,
        beside={"completeness": read_serializer(Watched)()},
    )
    def get(self, request: Request, cluster: str, group: str) -> HttpResponseBase:
        """What RocketMQ's own logs tell of a group, the newest first; and how completely they were read."""
        values = LogEventParameters.of(request)
        found = found_group(cluster, group)
        code = LogCode(values["code"]) if "code" in values else None
        codes = None if code is None else [code]
        seen = log_coverage(found.cluster, values.get("from"), values.get("to"), timezone.now(), code)
        beside = {"completeness": read_serializer(Watched)(seen).data}

        def find(page: int, page_size: int) -> ListedRows:
            events = log_event_page(found, values.get("from"), values.get("to"), codes, page=page, page_size=page_size)
            return ListedRows(events.rows, events.count, beside, seen.unknown_reason)

        return list_response(request, LogEventRow, find, **taken(values, *PAGE))
