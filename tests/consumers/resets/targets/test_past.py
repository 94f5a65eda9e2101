"""What a plan is given by kind of target; brokers are asked on a real socket."""

from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from consumers.jobs.hold import Answer, Hold, Ports, keep_alive
from consumers.lake.store import Lake
from consumers.models import ConsumerGroup, Reset, ResetKind, ResetOutcome, ResetStatus, ResetStep
from consumers.polling.registration import Wire
from consumers.resets.past_offsets import Given
from consumers.resets.reset_targets import OFFERED, TARGETS
from consumers.resets.target_values import QueueKey, ResetRefused
from consumers.rocketmq.wire.codes import RequestCode, ResponseCode
from consumers.rocketmq.wire.frames import Command
from consumers.vocabulary.reasons import stored_reason
from consumers.vocabulary.resets import PlanReason
from consumers.words.reasons import stored_words
from tests.consumers.rocketmq.fake_server import Behaviour, answering, reply, served, silence
from tests.pipeline_rows import at, put, rows
from tests.reset_rows import a_reset, a_reset_queue, at_once
from tests.world import NOW, a_cluster, a_group

pytestmark = pytest.mark.django_db

KEYS = [QueueKey("Orders", "broker-a", number) for number in range(3)]
NO_PORTS = Ports(wire=None, addresses={}, name_servers=[])  # type: ignore[arg-type]


def given_for(reset: Reset, *asked: Any) -> Given:
    given = TARGETS[ResetKind(reset.kind)].given
    assert given is not None
    return given(reset, *asked, at_once)


def own_queues(reset: Reset) -> tuple[QueueKey, ...] | None:
    return TARGETS[ResetKind(reset.kind)].own_queues(reset, at_once)


@pytest.fixture
def group() -> ConsumerGroup:
    cluster = a_cluster()
    a_group(cluster, "shipping")
    return a_group(cluster)


@contextmanager
def ports(behaviour: Behaviour, deadline_seconds: float = 5.0) -> Iterator[Ports]:
    wire, stack = Wire(), AsyncExitStack()
    address = wire.run(stack.enter_async_context(served(behaviour)))
    try:
        yield Ports(wire, {"broker-a": address}, [], deadline_seconds)
    finally:
        wire.run(wire.pool.close())
        wire.run(stack.aclose())
        wire.close()


def committed(offsets: dict[int, int], asked: list[Command]) -> Behaviour:
    def answer(request: Command) -> Command:
        asked.append(request)
        queue_id = int(request.ext_fields["queueId"])
        if queue_id not in offsets:
            return reply(request, ResponseCode.QUERY_NOT_FOUND, remark="Not found")
        return reply(request, ext_fields={"offset": str(offsets[queue_id])})

    return answering(answer)


def a_copy(group: ConsumerGroup, source: str = "shipping") -> Reset:
    return a_reset(group, kind=ResetKind.COPY, value=source)


def test_a_copy_is_where_the_other_group_stands(group: ConsumerGroup) -> None:
    asked: list[Command] = []
    with ports(committed({0: 7, 1: 0}, asked)) as reached:
        given = given_for(a_copy(group), KEYS, reached, NOW)
    assert given.offsets == {
        KEYS[0]: 7,
        KEYS[1]: 0,
        KEYS[2]: stored_reason(PlanReason.COPY_NO_COMMIT, group="shipping"),
    }
    assert stored_words(str(given.offsets[KEYS[2]])) == "shipping has no committed offset there."
    assert {(request.code, request.ext_fields["consumerGroup"]) for request in asked} == {
        (RequestCode.QUERY_CONSUMER_OFFSET, "shipping")
    }
    assert {request.ext_fields["setZeroIfNotFound"] for request in asked} == {"false"}
    assert "are from the time of the plan" in stored_words(given.warnings[0])


def test_a_copy_does_not_guess_what_a_silent_broker_holds(group: ConsumerGroup) -> None:
    with ports(silence, deadline_seconds=0.05) as reached:
        given = given_for(a_copy(group), KEYS, reached, NOW)
    assert all(
        stored_words(str(why)).startswith("Could not read the offset of shipping: ") for why in given.offsets.values()
    )


def test_a_copy_says_why_a_broker_refused(group: ConsumerGroup) -> None:
    refusing = answering(lambda request: reply(request, ResponseCode.SYSTEM_ERROR, remark="shutting down"))
    with ports(refusing) as reached:
        given = given_for(a_copy(group), KEYS[:1], reached, NOW)
    assert "shutting down" in str(given.offsets[KEYS[0]])


def test_a_copy_names_a_broker_without_master(group: ConsumerGroup) -> None:
    elsewhere = QueueKey("Orders", "broker-b", 0)
    with ports(committed({0: 7}, [])) as reached:
        given = given_for(a_copy(group), [KEYS[0], elsewhere], reached, NOW)
    assert given.offsets[KEYS[0]] == 7
    assert "The master of its broker is unknown" in stored_words(str(given.offsets[elsewhere]))


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"message_model": "BROADCASTING"}, "shipping is broadcasting"),
        ({"outside_store": "com.acme.RedisStore"}, "an external store (com.acme.RedisStore)"),
    ],
)
def test_a_group_whose_offsets_are_elsewhere_is_not_copied(
    group: ConsumerGroup, fields: dict[str, Any], why: str
) -> None:
    ConsumerGroup.objects.filter(name="shipping").update(**fields)
    with pytest.raises(ResetRefused) as refused:
        given_for(a_copy(group), KEYS, NO_PORTS, NOW)
    assert why in str(refused.value)


def test_a_group_that_is_gone_meanwhile_is_not_copied(group: ConsumerGroup) -> None:
    with pytest.raises(ResetRefused, match="prod has no group nobody"):
        given_for(a_copy(group, "nobody"), KEYS, NO_PORTS, NOW)


def test_a_copy_of_a_group_that_pops_warns(group: ConsumerGroup) -> None:
    ConsumerGroup.objects.filter(name="shipping").update(consume_type="CONSUME_POP")
    with ports(committed({0: 7}, [])) as reached:
        _, warning = given_for(a_copy(group), KEYS[:1], reached, NOW).warnings
    assert "has not acknowledged" in stored_words(warning)


def entry(number: int, offset: int) -> dict[str, Any]:
    return {"topic": "Orders", "broker": "broker-a", "queue_id": number, "offset": offset}


def test_a_list_gives_what_stands_in_it(group: ConsumerGroup) -> None:
    reset = a_reset(group, kind=ResetKind.OFFSETS, value=[entry(0, 5), entry(1, 0)])
    assert own_queues(reset) == (KEYS[0], KEYS[1])
    assert given_for(reset, KEYS, NO_PORTS, NOW) == Given(
        {KEYS[0]: 5, KEYS[1]: 0, KEYS[2]: stored_reason(PlanReason.NOT_LISTED)}
    )


def test_the_way_back_gives_what_was_before(group: ConsumerGroup) -> None:
    done = a_reset(group, status=ResetStatus.APPLIED)
    a_reset_queue(done, 0, step=ResetStep.READ_BACK, outcome=ResetOutcome.CONFIRMED, before=60)
    back = a_reset(group, kind=ResetKind.RESTORE, value=str(done.pk))
    assert own_queues(back) == (KEYS[0],)
    assert given_for(back, KEYS[:2], NO_PORTS, NOW) == Given(
        {KEYS[0]: 60, KEYS[1]: stored_reason(PlanReason.NOT_CHANGED)}
    )


def test_a_copy_names_no_queues_of_its_own(group: ConsumerGroup) -> None:
    assert own_queues(a_copy(group)) is None


def test_other_kinds_have_no_past(group: ConsumerGroup) -> None:
    reset = a_reset(group, kind=ResetKind.LATEST)
    assert own_queues(reset) is None
    assert TARGETS[ResetKind.LATEST].given is None


def test_a_moment_gives_where_the_group_stood(group: ConsumerGroup, tmp_path: Path, settings: Any) -> None:
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    put(Lake.at(str(tmp_path)), "readings", rows([(10, 99), (20, 99)]))
    reset = a_reset(group, kind=ResetKind.MOMENT, value=at(14).isoformat())
    assert own_queues(reset) == (KEYS[0],)
    assert given_for(reset, KEYS[:1], NO_PORTS, at(60)).offsets == {KEYS[0]: 10}


def test_the_history_is_read_while_the_worker_shows_that_it_lives(
    group: ConsumerGroup, tmp_path: Path, settings: Any
) -> None:
    """Two days of a large topic, from an object store, take longer than a worker may be silent."""
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    put(Lake.at(str(tmp_path)), "readings", rows([(10, 99), (20, 99)]))
    reset, target = a_reset(group, kind=ResetKind.MOMENT, value=at(14).isoformat()), TARGETS[ResetKind.MOMENT]
    hold = Hold.take(Reset, reset.pk, None, NOW)

    def kept(ask: Callable[[], Answer]) -> Answer:
        found.append(keep_alive(hold, lambda: NOW, ask))
        return cast(Answer, found[-1])

    found: list[object] = []
    assert target.given is not None
    own, given = target.own_queues(reset, kept), target.given(reset, KEYS[:1], NO_PORTS, at(60), kept)
    assert found == [own, (given.offsets, given.warnings)] == [(KEYS[0],), ({KEYS[0]: 10}, given.warnings)]


def test_every_kind_is_declared_and_all_but_the_way_back_are_offered() -> None:
    assert TARGETS.keys() == set(ResetKind)
    assert OFFERED.keys() == set(ResetKind) - {ResetKind.RESTORE}
    assert {target.code for target in OFFERED.values() if target.field and not target.hint} == set()
