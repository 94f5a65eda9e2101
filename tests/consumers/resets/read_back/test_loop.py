"""Reading back from brokers on sockets: what is asked, kept, taken up by another worker, and said in the end."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from consumers.jobs.hold import LEAST_STALE, Hold, NotHeld
from consumers.models import Reset, ResetMethod, ResetQueue, ResetStatus, ResetStep
from consumers.resets.applying.loop import read_back
from consumers.rocketmq.wire.codes import RequestCode
from consumers.words.reasons import stored_words
from tests.consumers.resets.applying.conftest import Site
from tests.fake_clock import FakeClock, Killed
from tests.world import NOW, a_client

COMMIT_SETTING = "persistConsumerOffsetInterval"


@dataclass
class Later:
    """A pause after which `acts` happen: {seconds since the writing: what}."""

    clock: FakeClock
    acts: dict[float, Callable[[], object]] = field(default_factory=dict)

    def __call__(self, seconds: float) -> None:
        self.clock.pause(seconds)
        for due in [due for due in self.acts if self.clock.at >= NOW + timedelta(seconds=due)]:
            self.acts.pop(due)()


def written(site: Site, target: int = 300, step: ResetStep = ResetStep.WRITTEN, **fields: Any) -> Reset:
    """Every queue was written, and stands at `target`."""
    reset = site.applying(target, **fields)
    for row in reset.queues_of_it.all():
        row.step, row.before, row.written_at = step, row.now_offset, NOW
        row.save()
    for broker in site.brokers.values():
        broker.offsets = dict.fromkeys(broker.offsets, target)
    return reset


def read(site: Site, reset: Reset, clock: FakeClock, acts: dict[float, Callable[[], object]] | None = None) -> None:
    hold = Hold.take(Reset, reset.pk, ResetStatus.APPLYING, clock())
    read_back(reset, site.ports, hold, clock, Later(clock, acts or {}))


def row_of(reset: Reset, broker: str = "broker-a", queue_id: int = 0) -> ResetQueue:
    return reset.queues_of_it.get(broker=broker, queue_id=queue_id)


def outcomes(reset: Reset) -> list[str | None]:
    return list(reset.queues_of_it.order_by("broker", "queue_id").values_list("outcome", flat=True))


def test_a_group_without_members_is_confirmed_once_it_stood_long_enough(site: Site, clock: FakeClock) -> None:
    reset = written(site)
    read(site, reset, clock)

    assert outcomes(reset) == ["CONFIRMED"] * 4
    assert set(reset.queues_of_it.values_list("step", "after")) == {(ResetStep.READ_BACK, 300)}
    assert 12 <= (clock.at - NOW).total_seconds() < 14


def test_each_offset_that_differs_is_kept_with_its_time(site: Site, clock: FakeClock) -> None:
    reset = written(site)
    read(site, reset, clock, {3: lambda: site.brokers["broker-a"].offsets.update({0: 450})})

    row = row_of(reset)
    assert [offset for _, offset in row.readings] == [300, 450]
    assert (row.after, row.outcome) == (450, "OVERWRITTEN")
    assert "450 after 3 s" in stored_words(row.evidence)


def test_a_queue_whose_commit_is_gone_is_kept_as_such(site: Site, clock: FakeClock) -> None:
    reset = written(site)
    read(site, reset, clock, {3: lambda: site.brokers["broker-a"].offsets.pop(0)})

    assert [offset for _, offset in row_of(reset).readings] == [300, None]
    assert (row_of(reset).after, row_of(reset).outcome) == (None, "OVERWRITTEN")


def test_a_silent_broker_keeps_its_queues_unknown_and_no_others(site: Site, clock: FakeClock) -> None:
    reset = written(site)
    site.brokers["broker-b"].is_silent = True
    clock.stretch = 5
    read(site, reset, clock)

    assert outcomes(reset) == ["CONFIRMED", "CONFIRMED", "UNKNOWN", "UNKNOWN"]
    row = row_of(reset, "broker-b")
    assert (row.after, row.after_at, row.readings) == (None, None, [])
    assert "Could not be read for 60 s" in stored_words(row.evidence)


def test_a_broker_that_no_reading_has_seen_is_unknown(site: Site, clock: FakeClock) -> None:
    reset = written(site)
    reset.queues_of_it.filter(broker="broker-b").update(broker="broker-c")
    read(site, reset, clock)

    assert "no poll has found a master of broker-c" in stored_words(row_of(reset, "broker-c").evidence)


def test_what_is_being_read_can_be_seen_meanwhile(site: Site, clock: FakeClock) -> None:
    reset, seen = written(site), []
    read(site, reset, clock, {8: lambda: seen.append(row_of(reset))})

    assert (seen[0].step, seen[0].after, seen[0].outcome) == (ResetStep.WRITTEN, 300, None)
    assert seen[0].after_at > NOW + timedelta(seconds=2)


def test_another_worker_goes_on_from_what_was_kept(site: Site, clock: FakeClock) -> None:
    reset = written(site)

    def die() -> None:
        raise Killed

    with pytest.raises(Killed):
        read(site, reset, clock, {3: lambda: site.brokers["broker-a"].offsets.update({0: 250}), 6: die})
    clock.pass_by(LEAST_STALE.total_seconds() + 1)
    read(site, reset, clock)

    assert [offset for _, offset in row_of(reset).readings] == [300, 250]
    assert outcomes(reset) == ["OVERWRITTEN", "CONFIRMED", "CONFIRMED", "CONFIRMED"]


def test_a_queue_that_was_settled_is_not_asked_for_again(site: Site, clock: FakeClock) -> None:
    reset = written(site)
    reset.queues_of_it.filter(queue_id=0).update(step=ResetStep.READ_BACK, outcome="UNKNOWN")
    read(site, reset, clock)

    asked = [one.ext_fields["queueId"] for one in site.brokers["broker-a"].asked if one.code == 14]
    assert (set(asked), outcomes(reset)) == ({"1"}, ["UNKNOWN", "CONFIRMED"] * 2)


def test_what_was_not_written_is_not_read(site: Site, clock: FakeClock) -> None:
    reset = written(site, step=ResetStep.FAILED)
    read(site, reset, clock)

    assert (outcomes(reset), site.brokers["broker-a"].asked) == ([None] * 4, [])


def test_what_stood_at_its_target_is_read_once(site: Site, clock: FakeClock) -> None:
    reset = site.applying(500, ResetMethod.NOTHING)
    reset.queues_of_it.filter(queue_id=1).update(left_out="it was not wanted")
    read(site, reset, clock)

    assert outcomes(reset) == ["CONFIRMED", None, "CONFIRMED", None]
    assert stored_words(row_of(reset).evidence).endswith("It was at its target already.")
    assert clock.pauses == []


def test_only_looks_reach_the_broker(site: Site, clock: FakeClock) -> None:
    read(site, written(site), clock)

    looks = {RequestCode.QUERY_CONSUMER_OFFSET, RequestCode.GET_CONSUMER_CONNECTION_LIST}
    assert {one.code for broker in site.brokers.values() for one in broker.asked} == looks


def test_a_worker_that_lost_the_reset_writes_nothing(site: Site, clock: FakeClock) -> None:
    reset = written(site)

    with pytest.raises(NotHeld):
        read(site, reset, clock, {3: lambda: Reset.objects.filter(pk=reset.pk).update(working_at=None)})
    assert outcomes(reset) == [None] * 4


@pytest.mark.parametrize(("settings_of_member", "seconds"), [(None, 25), ({COMMIT_SETTING: "30000"}, 50)])
def test_a_group_with_members_is_given_the_time_to_commit(
    site: Site, clock: FakeClock, settings_of_member: dict[str, str] | None, seconds: int
) -> None:
    for broker in site.brokers.values():
        broker.members = ("c1",)
    a_client(site.group, "c1", settings=settings_of_member)
    read(site, written(site), clock)

    assert seconds <= (clock.at - NOW).total_seconds() < seconds + 3


def test_members_that_are_told_a_time_are_met_where_their_broker_sent_them(site: Site, clock: FakeClock) -> None:
    for broker in site.brokers.values():
        broker.members = ("c1",)
    reset = written(site, method=ResetMethod.CLIENT)
    reset.queues_of_it.update(answered=305)
    for broker in site.brokers.values():
        broker.offsets = {0: 305, 1: 300}
    read(site, reset, clock)

    assert outcomes(reset) == ["CONFIRMED", "UNKNOWN"] * 2
    assert stored_words(row_of(reset).evidence).startswith("Set to 305;")


def test_a_member_that_consumes_again_is_met_there(site: Site, clock: FakeClock) -> None:
    for broker in site.brokers.values():
        broker.members = ("c1",)
    reset = written(site)
    moves = {second: lambda at=300 + second: site.brokers["broker-a"].offsets.update({0: at}) for second in (4, 9, 14)}
    read(site, reset, clock, dict(moves))

    row = row_of(reset)
    assert (row.outcome, [offset for _, offset in row.readings]) == ("CONFIRMED", [300, 304, 309, 314])
