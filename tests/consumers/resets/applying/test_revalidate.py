"""What stops a reset because it moved since the plan."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from consumers.models import Reset, ResetMethod, ResetQueue
from consumers.resets.methods import SAID, what_moved
from consumers.resets.planning.queue_plan import BrokerSetup, GroupSetup, QueueOffsets
from consumers.resets.target_values import QueueKey
from consumers.words.reasons import stored_words
from tests.world import NOW

TOLERANCE = 100
SEEN = {
    "members": ["c1", "c2"],
    "orderly": False,
    "message_model": "CLUSTERING",
    "consume_type": "CONSUME_PASSIVELY",
    "brokers": {"broker-a": {"version": "V5_4_0", "server_side": True, "permission": 6, "address": "10.0.0.1:1"}},
}
KEY = QueueKey("Orders", "broker-a", 0)
BROKER = BrokerSetup("broker-a", "V5_4_0", server_side=True, permission=6, address="10.0.0.1:1")


def row(queue_id: int = 0, **fields: Any) -> ResetQueue:
    """From 500 back to 300, of 100..1,000."""
    said = {"min_offset": 100, "max_offset": 1000, "now_offset": 500, "target": 300}
    return ResetQueue(topic="Orders", broker="broker-a", queue_id=queue_id, **{**said, **fields})


def facts(queue: QueueOffsets | None = None, **fields: Any) -> GroupSetup:
    said: dict[str, Any] = {
        "taken_at": NOW,
        "members": ("c1", "c2"),
        "members_error": None,
        "message_model": "CLUSTERING",
        "consume_type": "CONSUME_PASSIVELY",
        "orderly": False,
        "languages": ("JAVA",),
        "pop_topics": frozenset(),
        "brokers": {"broker-a": BROKER},
        "queues": {KEY: queue or QueueOffsets(KEY, 100, 1000, 500)},
    }
    return GroupSetup(**{**said, **fields})


def moved(fresh: GroupSetup, *rows: ResetQueue, **seen: Any) -> list[str]:
    return list(map(stored_words, what_moved(Reset(seen={**SEEN, **seen}), rows or [row()], fresh, TOLERANCE)))


MEMBERS_UNKNOWN = {"members": None, "members_error": "broker-b is silent"}
EMPTY: dict[str, Any] = {"members": (), "message_model": None, "consume_type": None}


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, None),
        ({"orderly": None, "languages": ()}, None),
        ({"members": ("c2", "c1")}, None),
        (MEMBERS_UNKNOWN, "The members of the group could not be read: broker-b is silent."),
        (EMPTY, "The group was online at the time of the plan, and is offline now."),
        ({"members": ("c1", "c3")}, "Members changed: c3 joined; c2 left."),
        ({"members": ("c1", "c2", "c3", "c4")}, "Members changed: c3 and 1 more joined."),
        ({"members": ("c1",)}, "Members changed: c2 left."),
        (
            {"message_model": "BROADCASTING"},
            "The message model of the group changed from CLUSTERING to BROADCASTING since the plan.",
        ),
        (
            {"consume_type": "CONSUME_ACTIVELY"},
            "The consume type of the group changed from CONSUME_PASSIVELY to CONSUME_ACTIVELY since the plan.",
        ),
        ({"brokers": {}}, "Could not read broker-a: it was not asked."),
        (
            {"brokers": {"broker-a": replace(BROKER, error="it is silent")}},
            "Could not read broker-a: it is silent.",
        ),
        (
            {"brokers": {"broker-a": replace(BROKER, permission=4)}},
            "The permission of broker-a changed from 6 to 4 since the plan.",
        ),
        (
            {"brokers": {"broker-a": replace(BROKER, address="10.0.0.2:1")}},
            "The master of broker-a changed from 10.0.0.1:1 to 10.0.0.2:1 since the plan.",
        ),
        (
            {"brokers": {"broker-a": replace(BROKER, server_side=False)}},
            "useServerSideResetOffset of broker-a changed from yes to no since the plan.",
        ),
    ],
)
def test_a_change_of_the_group_or_a_broker_is_said(fields: dict[str, Any], sentence: str | None) -> None:
    assert moved(facts(**fields)) == ([] if sentence is None else [sentence])


@pytest.mark.parametrize(
    ("seen", "fields", "sentence"),
    [
        ({"members": []}, {}, "The group was offline at the time of the plan, and is online now."),
        ({"members": []}, EMPTY, None),
        ({"members": None}, {}, "The members of the group at the time of the plan are unknown."),
        ({"brokers": None}, {}, "The master of broker-a changed from not known to 10.0.0.1:1 since the plan."),
    ],
)
def test_what_the_plan_did_not_see_has_not_stayed_the_same(
    seen: dict[str, Any], fields: dict[str, Any], sentence: str | None
) -> None:
    assert moved(facts(**fields), **seen)[:1] == ([] if sentence is None else [sentence])


@pytest.mark.parametrize(
    ("planned", "there", "reason"),
    [
        ({}, (100, 1000, 500), None),
        ({}, (300, 1000, 500), None),
        ({}, (100, 9000, 600), None),
        ({}, (100, 1000, 601), "it moved from 500 to 601, by more than 100 messages"),
        ({}, (100, 1000, 499), "it went back from 500 to 499"),
        ({}, (100, 1000, None), "it was at 500 in the plan, and has no committed offset now"),
        ({"now_offset": None}, (100, 1000, None), None),
        ({"now_offset": None}, (100, 1000, 0), "it had no committed offset in the plan, and is at 0 now"),
        ({"target": 550}, (100, 1000, 550), None),
        ({"target": 550}, (100, 1000, 551), None),
        ({"target": 550}, (100, 1000, 601), "it moved from 500 to 601, by more than 100 messages"),
        (
            {"target": 550, "method": ResetMethod.CLIENT},
            (100, 1000, 551),
            "it moved from 500 to 551, past its target 550",
        ),
        ({}, (301, 1000, 500), "its target 300 has expired: its min offset is 301"),
        ({}, (100, 999, 500), "its broker offset fell from 1,000 to 999 since the plan"),
        ({"max_offset": 200, "target": 201}, (100, 200, 500), "its target 201 is after its end, 200"),
        ({"target": None}, (100, 1000, 500), "the plan has no target for it"),
        ({}, (None, 1000, 500), "its min and max offset are unknown"),
    ],
)
def test_a_queue_that_moved_too_far_is_said(
    planned: dict[str, Any], there: tuple[int | None, int | None, int | None], reason: str | None
) -> None:
    said = moved(facts(QueueOffsets(KEY, *there)), row(**planned))
    assert said == ([] if reason is None else [f"Orders, broker-a, queue 0: {reason}."])


@pytest.mark.parametrize(
    ("queues", "reason"),
    [
        ({}, "it was not read"),
        ({KEY: QueueOffsets(KEY, None, None, None, "no answer")}, "could not be read: no answer"),
    ],
)
def test_a_queue_that_cannot_be_read_has_moved(queues: dict[QueueKey, QueueOffsets], reason: str) -> None:
    [sentence] = moved(facts(queues=queues))
    assert reason in sentence


def test_of_a_silent_broker_not_every_queue_is_listed() -> None:
    fresh = facts(brokers={"broker-a": replace(BROKER, error="it is silent")}, queues={})
    assert moved(fresh, row(0), row(1)) == ["Could not read broker-a: it is silent."]


def test_of_many_queues_some_are_said_and_the_rest_is_counted() -> None:
    said = moved(facts(queues={}), *(row(queue_id) for queue_id in range(SAID + 5)))
    assert (len(said), said[-1]) == (SAID + 1, "And 5 more.")


OFFSETS = st.integers(0, 10_000)


@given(now=OFFSETS, target=OFFSETS, end=OFFSETS, ahead=st.integers(0, 2 * TOLERANCE), grown=st.integers(0, 10_000))
def test_it_stops_exactly_where_a_queue_is_beyond_what_was_promised(
    now: int, target: int, end: int, ahead: int, grown: int
) -> None:
    end = max(now, target, end)
    there = now + ahead
    planned = row(min_offset=0, max_offset=end, now_offset=now, target=target)
    said = moved(facts(QueueOffsets(KEY, 0, max(end, there) + grown, there)), planned)
    assert bool(said) == (ahead > TOLERANCE)
