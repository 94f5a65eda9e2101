"""What was chosen, held against routes."""

from typing import Any

import pytest

from consumers.resets.planning.chosen import Choice, chosen
from consumers.resets.target_values import QueueKey
from consumers.rocketmq.name_server import QueueRoute, Route
from consumers.rocketmq.wire.codes import BrokerRefused, RequestCode, ResponseCode, Unreachable
from consumers.words.reasons import stored_words

A0, A1, A2, B0 = (QueueKey("Orders", f"broker-{place[0]}", int(place[1])) for place in ("a0", "a1", "a2", "b0"))
GONE = BrokerRefused(ResponseCode.TOPIC_NOT_EXIST, None, RequestCode.GET_ROUTEINFO_BY_TOPIC)


def a_choice(**fields: Any) -> Choice:
    values: dict[str, Any] = {"topics": ("Orders",), "brokers": None, "queues": None, "seen": frozenset({A0, A1})}
    return Choice(**(values | {"named": False} | fields))


def a_route(*queues: tuple[str, int, int]) -> dict[str, Route]:
    """(broker, read queues, write queues) each."""
    told = [QueueRoute(broker, read, write, 6) for broker, read, write in queues]
    return {"Orders": Route("Orders", [], told, None)}


def test_queues_are_those_to_read_whatever_readings_have_seen() -> None:
    assert chosen(a_choice(), a_route(("broker-a", 3, 1), ("broker-b", 1, 4))).keys == (A0, A1, A2, B0)


def test_a_queue_that_readings_have_seen_and_that_is_gone_is_none() -> None:
    picked = chosen(a_choice(), a_route(("broker-a", 1, 1)))
    assert (picked.keys, picked.left_out, picked.refusals) == ((A0,), {}, ())


def test_queues_whose_broker_is_in_no_route_are_left_out() -> None:
    picked = chosen(a_choice(), a_route(("broker-b", 1, 1)))
    assert picked.keys == (B0,)
    assert set(picked.left_out) == {A0, A1}


def test_where_the_route_cannot_be_read_what_readings_have_seen_is_left_out() -> None:
    picked = chosen(a_choice(), {"Orders": Unreachable("refused", address="127.0.0.1:9876")})
    assert picked.keys == ()
    assert stored_words(picked.left_out[A0]) == "Could not read the route of Orders: 127.0.0.1:9876: refused"


@pytest.mark.parametrize(
    ("choice", "refusals"),
    [
        (a_choice(queues=(A0, A2), named=True), ("broker-a has no queue 2 of Orders. Readable queues: 2.",)),
        (a_choice(queues=(B0,), named=True), ("broker-b has no queue of Orders.",)),
        (a_choice(brokers=frozenset({"broker-b"})), ("broker-b has no queue of the selected topics.",)),
        (a_choice(queues=(A0,), named=True), ()),
    ],
)
def test_what_was_named_and_is_not_there_is_refused(choice: Choice, refusals: tuple[str, ...]) -> None:
    assert tuple(map(stored_words, chosen(choice, a_route(("broker-a", 2, 2))).refusals)) == refusals


def test_what_the_past_names_and_is_not_there_is_left_out() -> None:
    picked = chosen(a_choice(queues=(A0, A2)), a_route(("broker-a", 2, 2)))
    assert (picked.keys, picked.refusals) == ((A0,), ())
    assert picked.left_out.keys() == {A2}
    assert stored_words(picked.left_out[A2]) == "broker-a has no queue 2 of Orders. Readable queues: 2."


@pytest.mark.parametrize(("named", "refusals"), [(True, ("No broker has the topic Orders any more.",)), (False, ())])
def test_a_topic_that_is_gone_is_refused_where_it_was_named(named: bool, refusals: tuple[str, ...]) -> None:
    picked = chosen(a_choice(named=named), {"Orders": GONE})
    assert (picked.keys, picked.left_out, tuple(map(stored_words, picked.refusals))) == ((), {}, refusals)


def test_brokers_narrow_the_choice_down() -> None:
    choice = a_choice(brokers=frozenset({"broker-b"}))
    assert chosen(choice, a_route(("broker-a", 2, 2), ("broker-b", 1, 1))).keys == (B0,)


@pytest.mark.parametrize(
    ("queues", "writing", "is_whole"),
    [((A0, A1), 2, True), ((A0, A1), 1, True), ((A0,), 2, False), ((A0, A1), 3, False), (None, 2, True)],
)
def test_a_topic_is_whole_at_a_broker_where_no_queue_is_missing_nor_only_written(
    queues: tuple[QueueKey, ...] | None, writing: int, is_whole: bool
) -> None:
    picked = chosen(a_choice(queues=queues), a_route(("broker-a", 2, writing)))
    assert (("Orders", "broker-a") in picked.whole) == is_whole
