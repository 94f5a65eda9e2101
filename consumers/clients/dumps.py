"""Thread dumps of clients: a page or REST requests one, the general worker asks a broker for it (307) and answers
through Redis.

It costs the client a walk over all its threads, so one at a time is taken of each, and each request is audited.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from celery import shared_task
from django.utils import timezone

from consumers.jobs import asking, audit
from consumers.jobs.asking import PATIENCE, Answer, AnswerFailed
from consumers.jobs.wires import Ports, connected, reaching
from consumers.models import Client
from consumers.polling.locks import Locked, lock
from consumers.rocketmq.admin import RUNNING_INFO_DEADLINE_SECONDS
from consumers.vocabulary.jobs import AnswerProblem

from .stacks import ThreadStack, cut_text, threads_of

MAY_DUMP = "consumers.dump_threads"
# Two dumps are compared while both are there.
RETAINED_SECONDS = 600
# The broker waits 10 s for the client.
DUMP_PATIENCE = PATIENCE + timedelta(seconds=RUNNING_INFO_DEADLINE_SECONDS)


@dataclass(frozen=True)
class DumpedClient:
    cluster: str
    client_id: str

    def __str__(self) -> str:
        return f"{self.cluster}: {self.client_id}"


@dataclass(frozen=True)
class ThreadDump:
    """`at`: when the client had answered. `is_cut`: the text was longer than is taken."""

    at: datetime
    broker: str
    threads: tuple[ThreadStack, ...]
    is_cut: bool

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"at": self.at.isoformat()}

    @classmethod
    def of_json(cls, said: dict[str, Any]) -> "ThreadDump":
        threads = (ThreadStack(**(one | {"frames": tuple(one["frames"])})) for one in said["threads"])
        return cls(datetime.fromisoformat(said["at"]), said["broker"], tuple(threads), said["is_cut"])


def dump_key(user_id: int, token: str) -> str:
    return asking.user_key("threads", user_id, token)


def ask_dump(user: Any, wanted: DumpedClient, now: datetime) -> str:
    """Its token. Audits the request. Raises RedisDown. Whoever calls it has seen that the user has MAY_DUMP."""
    token = asking.new_token()
    asking.ask(dump_threads, dump_key(user.pk, token), {"wanted": asdict(wanted)}, now, RETAINED_SECONDS)
    audit.note_seen(Client, str(wanted), user, "Requested a thread dump.", now)
    return token


def dump_answer(user_id: int, token: str, wanted: DumpedClient) -> Answer[ThreadDump] | None:
    """None where this user has no such request for this client, or it has expired. Raises RedisDown."""
    return asking.read_answer(dump_key(user_id, token), {"wanted": asdict(wanted)}, "dump", ThreadDump.of_json)


@shared_task(name="consumers.dump_threads")
def dump_threads(key: str, wanted: dict[str, str]) -> None:
    with asking.answering(key, "dump", RETAINED_SECONDS) as answer:
        if not asking.has_permission(asking.user_of(key), MAY_DUMP):
            raise AnswerFailed(AnswerProblem.DUMPS_NOT_PERMITTED, permission=MAY_DUMP)
        answer["dump"] = take_dump(DumpedClient(**wanted)).as_json()


def wait_for_dump(user_id: int, token: str) -> None:
    """Until the worker has answered, or DUMP_PATIENCE is over. Raises RedisDown."""
    asking.wait_for_answer(dump_key(user_id, token), DUMP_PATIENCE)


def take_dump(wanted: DumpedClient) -> ThreadDump:
    """By way of a broker that lists the client. Raises AnswerFailed."""
    rows = Client.objects.filter(group__cluster__name=wanted.cluster, client_id=wanted.client_id, gone_by=None)
    row = rows.select_related("group__cluster").order_by("group__name").first()
    if row is None:
        raise AnswerFailed(AnswerProblem.CLIENT_GONE)
    with reaching(AnswerProblem.THREADS_UNREAD), _alone(wanted):
        wire = connected(row.group.cluster)
        ports = Ports.of(row.group.cluster, wire)
        listing = sorted(name for name in row.connections if name in ports.addresses) or sorted(ports.addresses)
        if not listing:
            raise AnswerFailed(AnswerProblem.NO_BROKER)
        asked = ports.known(listing[0]).running_info(row.group.name, row.client_id, jstack=True)
        text = wire.run(asked).jstack
    if not text:
        raise AnswerFailed(AnswerProblem.NO_THREADS)
    shortened, is_cut = cut_text(text)
    return ThreadDump(timezone.now(), listing[0], tuple(threads_of(shortened)), is_cut)


@contextmanager
def _alone(wanted: DumpedClient) -> Iterator[None]:
    """Client IDs may be longer than the name of a lock."""
    name = hashlib.blake2b(str(wanted).encode(), digest_size=16).hexdigest()
    try:
        with lock(f"threads:{name}", DUMP_PATIENCE.total_seconds()):
            yield
    except Locked:
        raise AnswerFailed(AnswerProblem.DUMP_RUNNING) from None
