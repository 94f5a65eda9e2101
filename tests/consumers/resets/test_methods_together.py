"""What goes together where members are told, and groups of which nothing can be reset."""

import pytest
from hypothesis import given, strategies as st

from consumers.models import ResetMethod
from consumers.resets.methods import LeftOut, refusals_of_group, together
from consumers.words.reasons import stored_words
from tests.consumers.resets.method_facts import group_facts, key, offline

SERVER, CLIENT, COMMIT, NOTHING = ResetMethod.SERVER, ResetMethod.CLIENT, ResetMethod.COMMIT, ResetMethod.NOTHING
SILENT = LeftOut("it is silent")


def test_a_queue_that_stands_at_its_target_is_told_with_its_topic() -> None:
    assert together({key(0): CLIENT, key(1): NOTHING}) == {key(0): CLIENT, key(1): CLIENT}


def test_nobody_is_told_where_one_queue_is_left_out() -> None:
    methods = together({key(0): CLIENT, key(1): SILENT, key(2): NOTHING})
    assert methods[key(1)] == SILENT
    assert methods[key(2)] == NOTHING
    left_out = methods[key(0)]
    assert isinstance(left_out, LeftOut)
    assert stored_words(left_out.reason).endswith("queue 1 cannot be moved: it is silent")


@pytest.mark.parametrize("other", [key(1, topic="payments"), key(1, broker="broker-b")])
def test_other_topics_and_brokers_go_their_own_way(other) -> None:
    assert together({key(0): CLIENT, other: SILENT}) == {key(0): CLIENT, other: SILENT}
    assert together({key(0): CLIENT, other: NOTHING}) == {key(0): CLIENT, other: NOTHING}


@given(
    st.dictionaries(
        st.builds(key, st.integers(0, 3), st.sampled_from(["orders", "payments"]), st.sampled_from(["a", "b"])),
        st.sampled_from([SERVER, CLIENT, COMMIT, NOTHING, SILENT]),
    )
)
def test_members_are_told_all_queues_of_a_topic_at_a_broker_or_none(methods) -> None:
    settled = together(methods)
    assert settled.keys() == methods.keys()
    for place in {(at.topic, at.broker) for at, way in settled.items() if way == CLIENT}:
        ways = {way for at, way in settled.items() if (at.topic, at.broker) == place}
        assert not ways & {NOTHING, SILENT}
    assert {at for at, way in settled.items() if way in (SERVER, COMMIT)} == {
        at for at, way in methods.items() if way in (SERVER, COMMIT)
    }


@pytest.mark.parametrize("group", [group_facts(), offline(), group_facts(orderly=True), group_facts(orderly=None)])
def test_a_group_that_shares_queues_is_not_refused(group) -> None:
    assert refusals_of_group(group) == []
    assert refusals_of_group(group, last_message_model="CLUSTERING") == []


@pytest.mark.parametrize(
    ("group", "known", "because"),
    [
        (group_facts(message_model="BROADCASTING"), {}, "Broadcasting group"),
        (offline(), {"last_message_model": "BROADCASTING"}, "Broadcasting group"),
        (group_facts(message_model=None), {"last_message_model": "CLUSTERING"}, "do not report its message model"),
        (group_facts(members=None, members_error="broker-b is silent"), {}, r"Its members are unknown \(broker-b is"),
        (group_facts(members=None, members_error=None), {}, r"Its members are unknown \(a broker did not answer\)"),
        (offline(), {"outside_store": "com.example.RedisStore"}, r"an external store \(com.example.RedisStore\)"),
    ],
)
def test_a_group_whose_offsets_no_broker_can_move_is_refused_with_the_reason(group, known, because) -> None:
    (sentence,) = refusals_of_group(group, **known)
    with pytest.raises(AssertionError, match=because):
        raise AssertionError(stored_words(sentence))


def test_a_group_that_shares_queues_again_is_judged_by_its_members() -> None:
    assert refusals_of_group(group_facts(), last_message_model="BROADCASTING") == []
