"""A night on two real brokers: each cause that RocketMQ can be made to show in minutes, once, in groups of their own.

What came again is what the members wrote down, by UNIQ_KEY. The night is printed as a table.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from consumers.models import Client
from consumers.vocabulary.repeats import RepeatCause
from dashboard.demo.cluster import RocketMQ
from tests.consumers.repeats.conftest import POLL_SECONDS
from tests.consumers.repeats.night import NightGroup
from tests.consumers.repeats.scripted import (
    COMMIT_SECONDS,
    FIRST_COMMIT_SECONDS,
    Night,
    assert_told,
    noting_processes,
    owners,
)
from tests.consumers.resetting.live_site import Site
from tests.plugins.java_admin import JavaAdmin

pytestmark = [
    pytest.mark.live,
    pytest.mark.spark,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("tasks_at_once"),
    pytest.mark.timeout(2700),
]

# A message that was held for 30 s is no ordinary one (pipeline/durations.py).
HELD_SECONDS = 36.0
# A broker keeps the lock of an orderly member that died for 60 s (RocketMQ 5.4.0, RebalanceLockManager).
LOCK_SECONDS = 60.0
STAYING, DYING, SECOND = "staying", "dying", "second"

CRASH = NightGroup("crash", 4, 400, expected=RepeatCause.CONSUMER_CRASH, seconds=(0.05, 0.1))
OUT_OF_ORDER = NightGroup(
    "out_of_order", 1, 2500, expected=RepeatCause.FINISHED_OUT_OF_ORDER, seconds=(0.05, 0.1), behaviour={"holds_at": 5}
)
LOCAL_RETRY = NightGroup(
    "local_retry", 1, 40, expected=RepeatCause.LOCAL_RETRY_RESTART, behaviour={"fails_at": 10}, in_place=True
)
DRAINED = NightGroup("left_drained", 4, 100, "broker-b")
BUSY = NightGroup("left_busy", 4, 400, "broker-b", tolerated=(RepeatCause.CONSUMER_CRASH,), seconds=(0.05, 0.1))
JOINED = NightGroup("joined", 4, 300, "broker-b", tolerated=(RepeatCause.STALE_OFFSET,), seconds=(0.05, 0.1))
DUPLICATE = NightGroup("duplicate", 4, 100, "broker-b", expected=RepeatCause.DUPLICATE_CLIENT_ID)
WRONG_ACK = NightGroup("wrong_ack", 4, 75, expected=RepeatCause.WRONG_ACK, behaviour={"fails_every": 10})
BATCH = NightGroup("batch", 4, 64, "broker-b", expected=RepeatCause.BATCH_RECONSUME, behaviour={"fails_every": 16})
RESET = NightGroup("reset", 4, 100, expected=RepeatCause.RESET)
ELSEWHERE = NightGroup("reset_elsewhere", 4, 150, expected=RepeatCause.RESET_ELSEWHERE, seconds=(0.05, 0.1))
QUIET = NightGroup("quiet", 4, 150)
GROUPS = (
    CRASH, OUT_OF_ORDER, LOCAL_RETRY, DRAINED, BUSY, JOINED, DUPLICATE, WRONG_ACK, BATCH, RESET, ELSEWHERE, QUIET,
)  # fmt: skip


@pytest.fixture
def scripted(
    site: Site, java_admin_pair: JavaAdmin, rocketmq_pair: RocketMQ, rocketmq_jars: Path, tmp_path: Path
) -> Iterator[Night]:
    for group in GROUPS:
        java_admin_pair.create_topic(group.topic, group.queues, broker=group.broker)
        java_admin_pair.create_group(group.group, orderly=group.in_place)
    names = (STAYING, DYING, SECOND)
    with noting_processes(rocketmq_pair.namesrv, rocketmq_jars, tmp_path, names) as started:
        yield Night(site, java_admin_pair, started, STAYING)


def begin(scripted: Night) -> None:
    """Members start, share the queues and commit for the first time, and nothing has been sent."""
    for group in (CRASH, OUT_OF_ORDER, LOCAL_RETRY):
        scripted.start(DYING, group, 1)
    for group in GROUPS:
        if group in (CRASH, OUT_OF_ORDER, LOCAL_RETRY, DRAINED, BUSY):
            scripted.start(STAYING, group, 2)
        if group not in (CRASH, OUT_OF_ORDER, LOCAL_RETRY):
            scripted.start(STAYING, group, 1, **({"batch_messages": 8} if group is BATCH else {}))
    shared = (CRASH, DRAINED, BUSY)
    scripted.until(lambda: all(len(owners(one)) == 2 for one in shared), "members do not share the queues")
    scripted.until(lambda: all(owners(one) for one in GROUPS), "a group has no owner")
    scripted.start(SECOND, DUPLICATE, 1)
    scripted.rest(FIRST_COMMIT_SECONDS)
    doubled = Client.objects.filter(group__name=DUPLICATE.group).exclude(duplicated_since=None)
    scripted.until(doubled.exists, "no second process is seen")


def quiet_hours(scripted: Night) -> None:
    """A message that is held, another that fails in place, an orderly leave of a member that has nothing, a reset."""
    scripted.send(OUT_OF_ORDER, LOCAL_RETRY)
    held_since = time.monotonic()
    scripted.send(ELSEWHERE, RESET, DRAINED, DUPLICATE, QUIET)
    scripted.until(lambda: scripted.is_committed(DRAINED, ELSEWHERE), "not everything was committed")
    scripted.leave(DRAINED)
    scripted.admin.reset_by_time(ELSEWHERE.group, ELSEWHERE.topic, 0)
    scripted.rest(max(HELD_SECONDS - (time.monotonic() - held_since), 0))


def busy_hours(scripted: Night) -> None:
    """Messages fail; members are killed, leave and join while everybody is at work."""
    busy = (JOINED, BUSY, CRASH)
    scripted.until_minute()
    scripted.send(WRONG_ACK, BATCH, *busy)
    scripted.rest(2 * POLL_SECONDS)
    for group in (CRASH, OUT_OF_ORDER, LOCAL_RETRY, BUSY, JOINED):
        scripted.note_in_flight(group, 1)
    scripted.processes[DYING].kill()
    scripted.start(SECOND, JOINED, 2)
    scripted.leave(BUSY)
    scripted.until(lambda: scripted.is_delivered(*busy, OUT_OF_ORDER), "not everything was consumed")


def morning(scripted: Night) -> None:
    """A reset of ours; then the orderly member that stays is given the queue of the one that was killed."""
    failed = (WRONG_ACK, BATCH)
    scripted.until(lambda: scripted.are_redelivered(*failed), "what failed does not come again")
    scripted.until_minute()
    scripted.until(lambda: scripted.is_committed(RESET), "not everything was committed")
    planned = scripted.site.plan(RESET.group, "offset", 40)
    assert planned["status_code"] == 201, planned
    reset = scripted.site.apply(planned)
    assert reset["status"] == "applied", reset
    scripted.until(lambda: scripted.is_delivered(LOCAL_RETRY), "nobody took the queue over", 2 * LOCK_SECONDS)
    steady = [one for one in GROUPS if one is not DUPLICATE]
    scripted.until(lambda: scripted.is_committed(*steady), "not everything was committed again")
    scripted.rest(COMMIT_SECONDS)


def test_each_cause_of_a_night_is_found_and_nothing_else(
    scripted: Night, evaluated: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    started = time.monotonic()
    begin(scripted)
    quiet_hours(scripted)
    busy_hours(scripted)
    morning(scripted)
    lasted = time.monotonic() - started
    evaluated(scripted.first, scripted.last)
    with capsys.disabled():
        assert_told(scripted.lines(GROUPS), f"lasted {lasted:.0f} s")
