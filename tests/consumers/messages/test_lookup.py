"""A look-up finds every copy of a message by its id, its UNIQ_KEY or a key, within its budget, and says what it did not
search."""

import asyncio
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

import pytest

from consumers.messages.joined import FoundCopies, kind_of
from consumers.messages.lookup import Brokers, Lookup, LookupLimits, SearchedTopics, place_of
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.message_calls import MessageCalls
from consumers.rocketmq.wire.codes import RequestCode, ResponseCode
from consumers.rocketmq.wire.connection import ConnectionPool
from tests.consumers.messages.index_broker import IndexBroker, an_index_broker
from tests.consumers.messages.made_copies import at

RETRY, DEAD, LEVELS = "%RETRY%billing", "%DLQ%billing", "SCHEDULE_TOPIC_XXXX"
CHANGES_NOTHING = {
    RequestCode.QUERY_MESSAGE,
    RequestCode.VIEW_MESSAGE_BY_ID,
    RequestCode.QUERY_CONSUMER_OFFSET,
    RequestCode.QUERY_CONSUME_QUEUE,
}


@pytest.fixture
def broker() -> Iterator[IndexBroker]:
    with an_index_broker() as broker:
        yield broker


def failed_twice(broker: IndexBroker) -> str:
    """A message that is dead after its first retry. The id of the original's place."""
    said = {"UNIQ_KEY": "U1", "KEYS": "order-7"}
    origin = broker.put("Orders", 5, at(0), **said)
    copied = said | {"RETRY_TOPIC": "Orders", "ORIGIN_MESSAGE_ID": origin}
    broker.put(LEVELS, 0, at(5), times=1, REAL_TOPIC=RETRY, **copied)
    broker.put(RETRY, 0, at(15), times=1, **copied)
    broker.put(DEAD, 0, at(16), times=2, **copied)
    return origin


def look(
    broker: IndexBroker,
    wanted: str,
    topic: str | None = None,
    *,
    normal: Mapping[str, list[str]] | None = None,
    clock: Any = lambda: 0.0,
    **limits: Any,
) -> FoundCopies:
    async def main() -> FoundCopies:
        async with ConnectionPool() as pool:
            brokers = Brokers(
                {"broker-a": MessageCalls(pool, broker.address)}, {"broker-a": BrokerAdmin(pool, broker.address)}
            )
            topics = SearchedTopics("billing", normal or {"Orders": ["broker-a"]}, [RETRY])
            lookup = Lookup(topics, brokers, LookupLimits(at(-3600), **limits), at(60), clock)
            return await lookup.found(wanted, topic)

    return asyncio.run(main())


def kinds(found: FoundCopies) -> list[str]:
    return sorted(kind_of(copy).value for copy in found.copies)


WHOLE = ["dead_letter", "delayed", "original", "retry"]


@pytest.mark.parametrize("wanted", ["U1", "order-7"])
def test_every_copy_is_found_by_the_producers_id_and_by_a_key(broker: IndexBroker, wanted: str) -> None:
    failed_twice(broker)
    found = look(broker, wanted)
    assert kinds(found) == WHOLE
    assert {one.code for one in found.searched} == {None}


@pytest.mark.parametrize("change", [str.upper, str.lower])
def test_every_copy_is_found_by_the_id_of_a_place(broker: IndexBroker, change: Any) -> None:
    assert kinds(look(broker, change(failed_twice(broker)))) == WHOLE


def test_every_copy_is_found_by_the_place_of_the_dead_letter(broker: IndexBroker) -> None:
    failed_twice(broker)
    [dead] = [copy.stored_id for copy in look(broker, "U1").copies if copy.place.topic == DEAD]
    assert kinds(look(broker, dead)) == WHOLE


def test_only_calls_that_change_nothing_are_made(broker: IndexBroker) -> None:
    failed_twice(broker)
    look(broker, "order-7")
    assert {request.code for request in broker.asked} <= CHANGES_NOTHING


def test_an_original_that_the_index_does_not_have_is_fetched_by_its_place(broker: IndexBroker) -> None:
    broker.hidden.add(failed_twice(broker))
    assert "original" in kinds(look(broker, "U1"))


def test_what_waits_for_another_group_is_not_this_groups(broker: IndexBroker) -> None:
    broker.put("Orders", 5, at(0), UNIQ_KEY="U1")
    broker.put(LEVELS, 0, at(5), times=1, UNIQ_KEY="U1", REAL_TOPIC="%RETRY%audit")
    assert kinds(look(broker, "U1")) == ["original"]


def test_the_place_of_another_groups_copy_leads_to_this_groups(broker: IndexBroker) -> None:
    failed_twice(broker)
    foreign = broker.put("%RETRY%audit", 0, at(15), times=1, UNIQ_KEY="U1", RETRY_TOPIC="Orders")
    found = look(broker, foreign)
    assert kinds(found) == WHOLE
    assert "%RETRY%audit" not in {copy.place.topic for copy in found.copies}


def test_a_copy_on_a_delay_level_says_when_it_is_due(broker: IndexBroker) -> None:
    broker.put("Orders", 5, at(0), UNIQ_KEY="U1")
    broker.put(LEVELS, 3, at(5), times=1, UNIQ_KEY="U1", REAL_TOPIC=RETRY)
    broker.due[3] = at(15)
    [waits] = [copy for copy in look(broker, "U1").copies if copy.is_delayed]
    assert waits.due_at == at(15)


def test_the_groups_offset_is_asked_of_each_queue_that_delivers(broker: IndexBroker) -> None:
    failed_twice(broker)
    broker.offsets = {"Orders": 6}
    offsets = {one.place.topic: (one.offset, one.code) for one in look(broker, "U1").offsets}
    assert offsets == {"Orders": (6, None), RETRY: (None, None)}


def test_another_message_with_the_same_key_is_told_apart(broker: IndexBroker) -> None:
    broker.put("Orders", 5, at(0), UNIQ_KEY="U1", KEYS="order-7")
    broker.put("Orders", 6, at(1), UNIQ_KEY="U2", KEYS="order-7")
    broker.put("Orders", 7, at(2), UNIQ_KEY="U3", KEYS="order-8")
    found = look(broker, "U1")
    assert [copy.message_id for copy in found.copies] == ["U1"]
    assert [copy.message_id for copy in found.others] == ["U2"]
    assert {copy.message_id for copy in look(broker, "order-7").copies} == {"U1", "U2"}


def test_only_the_topic_that_copies_name_is_searched_for_the_original(broker: IndexBroker) -> None:
    failed_twice(broker)
    found = look(broker, "U1", normal={"Orders": ["broker-a"], "Bills": ["broker-a"]})
    assert "Bills" not in {one.topic for one in found.searched}


def test_a_named_topic_is_searched_alone(broker: IndexBroker) -> None:
    broker.put("Orders", 5, at(0), UNIQ_KEY="U1")
    found = look(broker, "U1", "Bills")
    assert found.copies == ()
    assert {one.topic for one in found.searched} == {"Bills", RETRY, DEAD, LEVELS}


def test_a_topic_that_could_not_be_searched_says_why(broker: IndexBroker) -> None:
    failed_twice(broker)
    broker.refuses = {RETRY: ResponseCode.NO_PERMISSION}
    found = look(broker, "U1")
    [place] = [one for one in found.searched if one.topic == RETRY]
    assert place.code == "place_unread"
    assert "NO_PERMISSION" in str(place.params)
    assert kinds(found) == ["dead_letter", "delayed", "original"]


def test_what_the_budget_leaves_out_is_not_taken_for_searched(broker: IndexBroker) -> None:
    failed_twice(broker)
    found = look(broker, "U1", calls=2)
    assert len(broker.asked) == 2
    assert found.calls == 2
    assert [one.code for one in found.searched].count("lookup_budget_used") == len(found.searched) - 2


def test_it_ends_when_its_time_is_over(broker: IndexBroker) -> None:
    failed_twice(broker)
    times = iter([0.0])
    found = look(broker, "U1", clock=lambda: next(times, 9.0))
    assert broker.asked == []
    assert {one.code for one in found.searched} == {"lookup_time_used"}


def test_a_broker_that_is_not_known_is_not_connected_to(broker: IndexBroker) -> None:
    elsewhere = bytes([10, 1, 2, 3]).hex() + f"{broker.port:08x}" + f"{0:016x}"
    assert look(broker, elsewhere.upper()).copies == ()
    assert RequestCode.VIEW_MESSAGE_BY_ID not in {request.code for request in broker.asked}


def test_an_answer_is_the_same_on_the_other_side_of_redis(broker: IndexBroker) -> None:
    failed_twice(broker)
    broker.offsets = {"Orders": 6}
    found = look(broker, "U1")
    assert FoundCopies.of_json(found.as_json()) == found


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("7F00000100002A9F00000000000003E8", ("127.0.0.1", 10911, 1000)),
        ("20010DB800000000000000000000000100002A9F00000000000003E8", ("2001:db8::1", 10911, 1000)),
        ("order-7", None),
        ("7F00000100002A9F", None),
        ("7F 0000100002A9F00000000000003E8", None),
    ],
)
def test_an_id_names_the_place_where_a_message_is_stored(text: str, place: tuple[str, int, int] | None) -> None:
    assert place_of(text) == place


def test_the_range_of_a_search_ends_an_hour_ahead(broker: IndexBroker) -> None:
    look(broker, "U1")
    said = broker.asked[0].ext_fields
    hour = timedelta(hours=1)
    assert int(said["beginTimestamp"]) == (at(0) - hour).timestamp() * 1000
    assert int(said["endTimestamp"]) == (at(60) + hour).timestamp() * 1000
