"""What is known of a queue after one call about it."""

import pytest

from consumers.models import ResetKind, ResetMethod, ResetQueue, ResetStep
from consumers.resets.applying.write import tell, time_ms_of
from consumers.rocketmq.wire.codes import BrokerRefused, ResponseCode
from consumers.words.reasons import stored_words
from tests.consumers.resets.applying.conftest import Site
from tests.consumers.resets.applying.fake_offsets import Act
from tests.reset_rows import a_reset
from tests.world import a_cluster, a_group


def row_of(site: Site, method: ResetMethod) -> ResetQueue:
    reset = site.applying(0, method, kind=ResetKind.EARLIEST)
    row = reset.queues_of_it.get(broker="broker-a", queue_id=0)
    row.step = ResetStep.WRITING
    return row


@pytest.mark.parametrize(
    ("method", "code", "step"),
    [
        (ResetMethod.SERVER, ResponseCode.SYSTEM_ERROR, ResetStep.FAILED),
        (ResetMethod.COMMIT, ResponseCode.SYSTEM_ERROR, ResetStep.FAILED),
        (ResetMethod.CLIENT, ResponseCode.CONSUMER_NOT_ONLINE, ResetStep.FAILED),
        # It may have told some members before it came to one that is too old.
        (ResetMethod.CLIENT, ResponseCode.SYSTEM_ERROR, ResetStep.UNANSWERED),
    ],
)
def test_a_refusal_has_changed_nothing_unless_members_were_told_before_it(
    site: Site, method: ResetMethod, code: int, step: ResetStep
) -> None:
    row = row_of(site, method)
    site.brokers["broker-a"].acts, site.brokers["broker-a"].refuses_with = [Act.REFUSE], code
    error = tell(site.ports, row.reset, [row])
    assert (type(error), row.step) == (BrokerRefused, step)


def test_a_commit_that_a_pending_reset_swallows_has_changed_nothing(site: Site) -> None:
    row = row_of(site, ResetMethod.COMMIT)
    site.brokers["broker-a"].has_pending_reset = True
    tell(site.ports, row.reset, [row])
    assert (row.step, "was ignored" in str(stored_words(row.error))) == (ResetStep.FAILED, True)


def test_a_queue_that_the_answer_does_not_name_is_in_doubt(site: Site) -> None:
    row = row_of(site, ResetMethod.CLIENT)
    del site.brokers["broker-a"].offsets[0]
    assert tell(site.ports, row.reset, [row]) is None
    assert (row.step, stored_words(row.error)) == (ResetStep.UNANSWERED, "the broker's answer does not name this queue")


def test_a_broker_that_cannot_be_reached_was_not_told(site: Site) -> None:
    row = row_of(site, ResetMethod.SERVER)
    site.ports.addresses["broker-a"] = "127.0.0.1:1"  # type: ignore[index]
    tell(site.ports, row.reset, [row])
    assert row.step == ResetStep.FAILED


def test_what_stands_there_already_is_never_told(site: Site) -> None:
    row = row_of(site, ResetMethod.NOTHING)
    with pytest.raises(ValueError, match="is not written"):
        tell(site.ports, row.reset, [row])
    assert site.writes() == 0


@pytest.mark.parametrize(
    ("kind", "value", "time_ms"),
    [
        (ResetKind.EARLIEST, None, 0),
        (ResetKind.LATEST, None, -1),
        (ResetKind.TIME, "2026-03-14T02:13:00.250000+00:00", 1773454380250),
    ],
)
def test_members_are_told_a_time(db: None, kind: ResetKind, value: str | None, time_ms: int) -> None:
    assert time_ms_of(a_reset(a_group(a_cluster()), kind=kind, value=value)) == time_ms


def test_a_target_that_is_no_time_is_not_told_to_members(db: None) -> None:
    with pytest.raises(ValueError, match="cannot be told"):
        time_ms_of(a_reset(a_group(a_cluster()), kind=ResetKind.SHIFT, value=-3))
