"""Which way a queue's offset is moved: the truth table over broker, group and target."""

import itertools

import pytest

from consumers.models import ResetKind, ResetMethod
from consumers.resets.methods import LeftOut, method_of
from consumers.resets.planning.queue_plan import GroupSetup
from consumers.words.reasons import stored_words
from tests.consumers.resets.method_facts import broker_facts, group_facts, key, offline, queue_facts

SERVER, CLIENT, COMMIT, NOTHING = ResetMethod.SERVER, ResetMethod.CLIENT, ResetMethod.COMMIT, ResetMethod.NOTHING
BY_TIME = {ResetKind.EARLIEST, ResetKind.LATEST, ResetKind.TIME}
EITHER = list(itertools.product([False, True], repeat=2))
OLD = broker_facts(version="V5_1_4", server_side=False)


def method(group: GroupSetup, kind: ResetKind = ResetKind.EARLIEST, **given: object) -> ResetMethod | LeftOut:
    told = {"queue": queue_facts(), "target": 20, "clipped": False, "whole_topic": True} | given
    return method_of(kind, group, **told)  # type: ignore[arg-type]


def why(result: ResetMethod | LeftOut) -> str:
    assert isinstance(result, LeftOut)
    return stored_words(result.reason)


@pytest.mark.parametrize("kind", ResetKind)
@pytest.mark.parametrize("group", [group_facts(), offline()], ids=["online", "offline"])
@pytest.mark.parametrize(("clipped", "whole_topic"), EITHER)
def test_a_broker_that_moves_offsets_itself_moves_any(
    kind: ResetKind, group: GroupSetup, clipped: bool, whole_topic: bool
) -> None:
    assert method(group, kind, clipped=clipped, whole_topic=whole_topic) == SERVER


@pytest.mark.parametrize("kind", ResetKind)
@pytest.mark.parametrize(("clipped", "whole_topic"), EITHER)
def test_without_members_an_older_broker_takes_a_commit(kind: ResetKind, clipped: bool, whole_topic: bool) -> None:
    assert method(offline(broker=OLD), kind, clipped=clipped, whole_topic=whole_topic) == COMMIT


@pytest.mark.parametrize("kind", ResetKind)
@pytest.mark.parametrize(("clipped", "whole_topic"), EITHER)
def test_with_members_an_older_broker_takes_whole_topics_and_times_only(
    kind: ResetKind, clipped: bool, whole_topic: bool
) -> None:
    result = method(group_facts(broker=OLD), kind, clipped=clipped, whole_topic=whole_topic)
    if kind in BY_TIME and whole_topic and not clipped:
        assert result == CLIENT
    else:
        assert "Stop the group and plan again" in why(result)


@pytest.mark.parametrize(
    ("given", "because"),
    [
        ({"kind": ResetKind.SHIFT}, "this target is an offset, not a time"),
        ({"clipped": True}, "a target that was clipped is an offset, not a time"),
        ({"whole_topic": False}, "that moves all queues of the topic on the broker"),
        ({"queue": queue_facts(now_offset=None)}, "this queue has no committed offset"),
    ],
)
def test_members_of_an_older_broker_are_not_told_with_the_reason(given: dict[str, object], because: str) -> None:
    assert because in why(method(group_facts(broker=OLD), **given))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("languages", "because"),
    [
        (("CPP", "JAVA"), "members written in CPP may not understand it"),
        (("PYTHON", "GO"), "members written in GO, PYTHON may not"),
        ((), "the client versions of its members are unknown"),
    ],
)
def test_only_javas_members_are_told_by_an_older_broker(languages: tuple[str, ...], because: str) -> None:
    assert because in why(method(group_facts(broker=OLD, languages=languages)))
    assert method(group_facts(languages=languages)) == SERVER


@pytest.mark.parametrize("broker", [broker_facts(), OLD], ids=["server side", "client side"])
@pytest.mark.parametrize("group", [group_facts, offline], ids=["online", "offline"])
def test_what_stands_at_its_target_needs_nothing(broker, group) -> None:
    assert method(group(broker=broker), target=50) == NOTHING


@pytest.mark.parametrize(("group", "broker", "way"), [(group_facts, None, SERVER), (offline, OLD, COMMIT)])
def test_a_queue_without_a_commit_can_be_given_one(group, broker, way: ResetMethod) -> None:
    assert method(group(broker=broker), queue=queue_facts(now_offset=None)) == way
    assert method(group(broker=broker), queue=queue_facts(now_offset=None), target=0) == way


@pytest.mark.parametrize("server_side", [True, False])
@pytest.mark.parametrize("group", [group_facts, offline], ids=["online", "offline"])
@pytest.mark.parametrize("target", [20, 50], ids=["moves", "stands there"])
@pytest.mark.parametrize(
    ("broker", "queue", "because"),
    [
        ({"error": "10.0.0.1:10911: refused"}, {}, "Could not reach the broker broker-a: 10.0.0.1:10911: refused"),
        ({}, {"error": "no answer within 5 s"}, "Could not read the queue: no answer within 5 s"),
        ({"permission": None}, {}, "does not report its write permission"),
        ({"permission": 4}, {}, "is read-only"),
        ({"server_side": None}, {}, "does not report useServerSideResetOffset"),
    ],
)
def test_what_cannot_be_known_or_written_is_left_out(server_side, group, target, broker, queue, because) -> None:
    told = broker_facts(**{"server_side": server_side} | broker)
    assert because in why(method(group(broker=told), queue=queue_facts(**queue), target=target))


def test_a_broker_that_nobody_knows_is_left_out() -> None:
    assert "The master of the broker broker-z is unknown" in why(
        method(group_facts(), queue=queue_facts(key(broker="broker-z")))
    )


@pytest.mark.parametrize("broker", [broker_facts(), OLD], ids=["server side", "client side"])
def test_without_knowing_the_members_nothing_is_moved(broker) -> None:
    group = group_facts(broker=broker, members=None, members_error="broker-b: no answer within 5 s")
    assert "Its members are unknown (broker-b: no answer within 5 s)" in why(method(group))


@pytest.mark.parametrize("broker", [broker_facts(), OLD], ids=["server side", "client side"])
@pytest.mark.parametrize(
    ("consume_type", "because"),
    [
        ("CONSUME_ACTIVELY", "Stop the group first, or use seek in its program"),
        (None, "do not report its consume type"),
    ],
)
def test_members_that_pull_by_themselves_keep_their_position(broker, consume_type, because) -> None:
    assert because in why(method(group_facts(broker=broker, consume_type=consume_type)))


POPPED = {"pop_topics": frozenset({"orders"})}
SIMPLE = POPPED | {"consume_type": "CONSUME_ACTIVELY"}


@pytest.mark.parametrize("group", [group_facts(**POPPED), group_facts(**SIMPLE), offline(**POPPED)])
def test_a_popped_topic_is_moved_by_the_broker(group: GroupSetup) -> None:
    assert method(group) == SERVER


@pytest.mark.parametrize(
    ("told", "because"),
    [
        (POPPED, "Set its useServerSideResetOffset to true first"),
        ({"pop_topics": None}, "Whether the group consumes this topic by POP is unknown"),
        ({"consume_type": "CONSUME_POP"}, "The group consumes this topic by POP"),
    ],
)
@pytest.mark.parametrize("group", [group_facts, offline], ids=["online", "offline"])
def test_a_popped_topic_is_not_moved_past_an_older_broker(group, told, because) -> None:
    assert because in why(method(group(broker=OLD, **told)))


def test_another_topic_of_a_group_that_pops_is_moved_as_ever() -> None:
    assert method(offline(broker=OLD, pop_topics=frozenset({"payments"}))) == COMMIT
