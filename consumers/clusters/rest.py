"""GET clusters/"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.views import APIView

from consumers.clusters.history_use import HistoryUse, history_uses
from consumers.clusters.queries import ClusterRow, cluster_list
from consumers.logs.queries import LogFileRow, log_files_by_cluster
from consumers.queries.declared import answer
from consumers.rest.answers import list_response, whole
from consumers.rest.requests import Paging
from consumers.rest.schema import described
from consumers.retries.broker_levels import BrokerLevels, levels_by_name


@answer(name="Cluster", last=("unknown",))
@dataclass(frozen=True, kw_only=True)
class ClusterDocument(ClusterRow):
    delay_levels: Sequence[BrokerLevels]
    history: HistoryUse
    logs: Sequence[LogFileRow]


class ClusterListView(APIView):
    @described("clusters", ClusterDocument, parameters=Paging, paged=True)
    def get(self, request: Request) -> HttpResponseBase:
        """The registered clusters with their brokers and last reading."""
        paging, now = Paging.of(request), timezone.now()
        levels = levels_by_name(now)
        clusters = cluster_list(now)
        logs = log_files_by_cluster(now)
        uses = history_uses([row.name for row in clusters])
        rows = [
            ClusterDocument(
                **vars(row), delay_levels=levels.get(row.name, []), history=uses[row.name], logs=logs.get(row.name, [])
            )
            for row in clusters
        ]
        return list_response(request, ClusterDocument, whole(rows), **paging)
