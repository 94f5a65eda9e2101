"""Thread dumps of clients: requested by a page or REST, answered through Redis by the general worker, which asks a
broker for it (307); and their stacks.

It costs the client a walk over all its threads, so one at a time is taken of each, and each request is audited.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from celery import shared_task
from django.utils import timezone

from consumers.jobs import acts, asking
from consumers.jobs.asking import PATIENCE, Answer, AnswerFailed
from consumers.jobs.hold import Ports, connected, reaching
from consumers.jobs.permissions import user_may
from consumers.models import Client
from consumers.polling.locks import Locked, lock
from consumers.rocketmq.admin import RUNNING_INFO_DEADLINE_SECONDS
from consumers.vocabulary.reasons import AnswerProblem

# The threads of a client, out of the text of its running info: grouped by equal stack, and compared with later ones.
#
# The text is that of RocketMQ 5.4.0, UtilAll.jstack: a block for each thread, with an empty line between two. Each
# line begins with the thread's name, padded to 40 letters. The first line goes on with `TID: 7 STATE: WAITING`, the
# others with a frame, innermost first.
# RocketMQ 4.9 and 5.4: ConsumeMessageConcurrentlyService and ConsumeMessageOrderlyService name their threads so.
CONSUMING = "ConsumeMessageThread_"
# A thread that runs a listener is within one of these; others of the pool wait for messages.
WORKING = "$ConsumeRequest.run"
LONGEST_TEXT = 400_000
_HEAD = re.compile(r"(?P<name>.*?)\s*TID: (?P<tid>\d+) STATE: (?P<state>\w+)")


@dataclass(frozen=True)
class ThreadStack:
    """`frames`: innermost first."""

    name: str
    tid: int
    state: str
    frames: tuple[str, ...]

    @property
    def is_consuming(self) -> bool:
        return self.name.startswith(CONSUMING)

    @property
    def is_working(self) -> bool:
        """Within a listener, as opposed to waiting for messages."""
        return self.is_consuming and any(WORKING in frame for frame in self.frames)


@dataclass(frozen=True)
class StackGroup:
    """Threads with the same stack in the same state."""

    state: str
    frames: tuple[str, ...]
    threads: tuple[ThreadStack, ...]

    @property
    def is_consuming(self) -> bool:
        return any(thread.is_consuming for thread in self.threads)

    @property
    def is_working(self) -> bool:
        return any(thread.is_working for thread in self.threads)


def threads_of(text: str) -> list[ThreadStack]:
    """In the order of the text. A block that is none of a thread is left out."""
    found = []
    for block in re.split(r"\r?\n\r?\n", text.strip()):
        head, *lines = block.splitlines() or [""]
        matched = _HEAD.fullmatch(head.strip())
        if matched is None:
            continue
        name = matched["name"]
        frames = (line.removeprefix(name).strip() for line in lines)
        found.append(
            ThreadStack(name, int(matched["tid"]), matched["state"], tuple(frame for frame in frames if frame))
        )
    return found


def cut_text(text: str) -> tuple[str, bool]:
    """At most LONGEST_TEXT letters of whole blocks, and whether that is less than all."""
    if len(text) <= LONGEST_TEXT:
        return text, False
    end = max(text.rfind("\n\n", 0, LONGEST_TEXT), text.rfind("\n\r\n", 0, LONGEST_TEXT))
    return text[: end if end > 0 else LONGEST_TEXT], True


def grouped(threads: Iterable[ThreadStack]) -> list[StackGroup]:
    """Those within a listener first, then others that consume, then the rest; the most threads first."""
    same: dict[tuple[str, tuple[str, ...]], list[ThreadStack]] = {}
    for thread in threads:
        same.setdefault((thread.state, thread.frames), []).append(thread)
    groups = [StackGroup(state, frames, tuple(each)) for (state, frames), each in same.items()]
    return sorted(
        groups, key=lambda one: (not one.is_working, not one.is_consuming, -len(one.threads), one.threads[0].name)
    )


def unmoved(before: Sequence[ThreadStack], after: Sequence[ThreadStack]) -> frozenset[int]:
    """The ids of threads that are in the same place in both. The same id of another name is another thread."""
    places = {(thread.tid, thread.name): (thread.state, thread.frames) for thread in before}
    return frozenset(
        thread.tid for thread in after if places.get((thread.tid, thread.name)) == (thread.state, thread.frames)
    )


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
    def of_json(cls, document: dict[str, Any]) -> "ThreadDump":
        threads = (ThreadStack(**(one | {"frames": tuple(one["frames"])})) for one in document["threads"])
        return cls(datetime.fromisoformat(document["at"]), document["broker"], tuple(threads), document["is_cut"])


def dump_key(user_id: int, token: str) -> str:
    return asking.user_key("threads", user_id, token)


def ask_dump(user: Any, wanted: DumpedClient, now: datetime) -> str:
    """Its token. Audits the request. Raises RedisDown. Whoever calls it has seen that the user has MAY_DUMP there."""
    token = asking.new_token()
    asking.ask(dump_threads, dump_key(user.pk, token), {"wanted": asdict(wanted)}, now, RETAINED_SECONDS)
    acts.note_seen(Client, str(wanted), user, "Requested a thread dump.", now)
    return token


def dump_answer(user_id: int, token: str, wanted: DumpedClient) -> Answer[ThreadDump] | None:
    """None where this user has no such request for this client, or it has expired. Raises RedisDown."""
    return asking.read_answer(dump_key(user_id, token), {"wanted": asdict(wanted)}, "dump", ThreadDump.of_json)


@shared_task(name="consumers.dump_threads")
def dump_threads(key: str, wanted: dict[str, str]) -> None:
    with asking.answering(key, "dump", RETAINED_SECONDS) as answer:
        client = DumpedClient(**wanted)
        if not user_may(asking.user_of(key), MAY_DUMP, client.cluster):
            raise AnswerFailed(AnswerProblem.DUMPS_NOT_PERMITTED, permission=MAY_DUMP, cluster=client.cluster)
        answer["dump"] = take_dump(client).as_json()


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
