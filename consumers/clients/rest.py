"""GET clients/{cluster}/{client}/ and POST clients/{cluster}/{client}/threads/"""

from django.utils import timezone
from django.utils.translation import gettext
from rest_framework import status
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.clients.queries import ClientDetail, ThreadDumpRow, ThreadRow, client_detail, client_exists
from consumers.jobs.permissions import check
from consumers.rest.access import charge
from consumers.rest.answers import object_response
from consumers.rest.problems import answered
from consumers.rest.requests import Parameters
from consumers.rest.schema import acted, described

from .dumps import DUMP_PATIENCE, MAY_DUMP, DumpedClient, ThreadDump, ask_dump, dump_answer, wait_for_dump

# What a dump costs of the requests of a minute: that of ten.
POINTS = 20_000


def client_missing(cluster: str, client: str) -> NotFound:
    words = {"client": repr(client), "cluster": repr(cluster)}
    return NotFound(gettext("There is no client %(client)s in cluster %(cluster)s.") % words)


class ClientView(APIView):
    @described("client", ClientDetail)
    def get(self, request: Request, cluster: str, client: str) -> Response:
        """One client, by its ID: its groups, queues, consumption and settings."""
        Parameters.of(request)
        found = client_detail(cluster, client, now=timezone.now())
        if found is None:
            raise client_missing(cluster, client)
        return object_response(request, ClientDetail, found)


class ClientThreadsView(APIView):
    @acted("dump_client_threads", None, ThreadDumpRow, status.HTTP_200_OK)
    def post(self, request: Request, cluster: str, client: str) -> Response:
        """The stacks of all threads of a client, as it reports them now: it takes up to 22 s.

        It wants the permission `dump_threads`, and each request is audited. One at a time is taken of each client.
        """
        check(request.user, MAY_DUMP, cluster)
        user_id = request.user.pk
        assert user_id is not None, "nobody has a permission"
        now = timezone.now()
        if not client_exists(cluster, client):
            raise client_missing(cluster, client)
        charge(request, points=POINTS)
        wanted = DumpedClient(cluster, client)
        token = ask_dump(request.user, wanted, now)
        wait_for_dump(user_id, token)
        dump = answered(dump_answer(user_id, token, wanted), DUMP_PATIENCE)
        return object_response(request, ThreadDumpRow, _row(wanted, dump))


def _row(wanted: DumpedClient, dump: ThreadDump) -> ThreadDumpRow:
    threads = [
        ThreadRow(one.name, one.tid, one.state, one.is_consuming, one.is_working, one.frames) for one in dump.threads
    ]
    return ThreadDumpRow(wanted.cluster, wanted.client_id, dump.at, dump.broker, dump.is_cut, threads)
