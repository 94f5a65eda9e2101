"""GET findings/, and groups/{cluster}/{group}/findings/"""

from typing import Any

from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.views import APIView

from consumers.findings.queries import FindingFilters, finding_list
from consumers.models import Cluster
from consumers.queries.findings import FindingRow
from consumers.rest.answers import ListedRows, list_response
from consumers.rest.problems import found_group
from consumers.rest.requests import PAGE, Choice, Paging, taken
from consumers.rest.schema import described
from consumers.vocabulary.findings import FindingCode, FindingSeverity

BESIDE: dict[str, serializers.Field[Any, Any, Any, Any]] = {
    "unknown_reason": serializers.CharField(
        allow_null=True, help_text="Why there may be more than `count`: what the filters seek could not all be checked"
    )
}


class OfGroupParameters(Paging):
    code = Choice([code.value for code in FindingCode], required=False)
    severity = Choice([severity.value for severity in FindingSeverity], required=False)


class FindingParameters(OfGroupParameters):
    cluster = serializers.CharField(required=False)
    group = serializers.CharField(required=False, help_text="The whole name")


class FindingListView(APIView):
    @described("findings", FindingRow, parameters=FindingParameters, paged=True, beside=BESIDE)
    def get(self, request: Request) -> HttpResponseBase:
        """Current findings of all groups, brokers and offset files, the worst first; what could not be checked is
        `unknown`."""
        values = FindingParameters.of(request)
        cluster = values.get("cluster")
        if cluster is not None and not Cluster.objects.filter(name=cluster).exists():
            raise NotFound(gettext("There is no cluster %(cluster)s.") % {"cluster": repr(cluster)})
        return _rows(request, values)


class GroupFindingListView(APIView):
    @described("group_findings", FindingRow, parameters=OfGroupParameters, paged=True, beside=BESIDE)
    def get(self, request: Request, cluster: str, group: str) -> HttpResponseBase:
        """Current findings of one group, the worst first; what could not be checked is `unknown`."""
        values = OfGroupParameters.of(request)
        found = found_group(cluster, group)
        return _rows(request, values | {"cluster": cluster, "group": found.name})


def _rows(request: Request, values: dict[str, Any]) -> HttpResponseBase:
    paging = taken(values, *PAGE)
    filters, now = FindingFilters(**values), timezone.now()

    def find(page: int, page_size: int) -> ListedRows:
        found = finding_list(filters, now, page=page, page_size=page_size)
        why = ngettext(
            "%(n)s finding says that these checks are unknown", "%(n)s findings say that these checks are unknown",
            found.unchecked,
        ) % {"n": found.unchecked}  # fmt: skip
        reason = why if found.unchecked else None
        return ListedRows(found.rows, found.count, {"unknown_reason": reason}, reason)

    return list_response(request, FindingRow, find, **paging)
