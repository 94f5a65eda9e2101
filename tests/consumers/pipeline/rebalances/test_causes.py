"""What a rebalance was told by: each cause with the facts that support it, and no other."""

import json
from datetime import datetime

import pytest

from consumers.pipeline.durations import Durations
from tests.pipeline_rows import at, us
from tests.rebalance_histories import every, partly, queues, rebalances, saying, seconds, see

ALONE = every(0, 60, a="0123")
BOTH = every(0, 60, a="01", b="23")
STRATEGY = "AllocateMessageQueueAveragely"
ELSEWHERE = {"address": "10.0.0.1:5001"}
ANEW = {"address": "10.0.0.1:5001", "started_at": at(70)}
CAME_B = {"cause": "joined", "client_id": "b", "address": "10.0.0.1:5000", "at": "75"}
WENT_B = {"cause": "gone", "client_id": "b", "address": "10.0.0.1:5000", "last_seen": "60", "at": "75"}
STUCK = {"sub_version": at(-9), "last_pull_at": at(-46)}


def other(queue_id, **fields):
    return {**queues(1)[0], "queue_id": queue_id, **fields}


CASES = {
    "a member joins": ([*ALONE, *every(75, 105, a="01", b="23")], {}, "joined", [CAME_B]),
    "a member goes, how cannot be told": ([*BOTH, *every(75, 105, a="0123")], {}, "gone", [WENT_B]),
    "a member joins, goes and joins again": (
        [*ALONE, see(75, a="01", b="23"), see(90, a="0123"), *saying(every(105, 135, a="01", b="23"), b=ELSEWHERE)],
        {},
        "joined",
        [CAME_B],
    ),
    "one goes and one comes": (
        [*BOTH, *every(75, 105, a="01", c="23")],
        {},
        "joined, gone",
        [{**CAME_B, "client_id": "c"}, WENT_B],
    ),
    "a member that had not answered for 90 s": (
        [*BOTH, *every(75, 150, a="01", b=None), *every(165, 195, a="0123")],
        {},
        "silent",
        [{**WENT_B, "cause": "silent", "last_seen": "150", "at": "165", "silent_since": "75"}],
    ),
    "a member that had not answered for less": (
        [*BOTH, *every(75, 135, a="01", b=None), *every(150, 180, a="0123")],
        {},
        "gone",
        [{**WENT_B, "last_seen": "135", "at": "150"}],
    ),
    "a member that had answered again": (
        [*BOTH, *every(75, 150, a="01", b=None), see(165, a="01", b="23"), *every(180, 210, a="0123")],
        {},
        "gone",
        [{**WENT_B, "last_seen": "165", "at": "180"}],
    ),
    "the same process on another connection": (
        [*BOTH, *saying(every(75, 105, a="01", b="23"), b=ELSEWHERE)],
        {},
        "reconnected",
        [{"cause": "reconnected", "client_id": "b", "before": "10.0.0.1:5000", "after": "10.0.0.1:5001", "at": "75"}],
    ),
    "another start under the same id": (
        [*BOTH, *saying(every(75, 105, a="01", b="23"), b=ANEW)],
        {},
        "restarted",
        [
            {
                "cause": "restarted",
                "client_id": "b",
                "address": "10.0.0.1:5001",
                "before": "-3600",
                "after": "70",
                "at": "75",
            }
        ],
    ),
    "another start while it was away for a reading": (
        [*BOTH, see(75, a="0123"), *saying(every(90, 120, a="01", b="23"), b=ANEW)],
        {},
        "restarted",
        [
            {
                "cause": "restarted",
                "client_id": "b",
                "address": "10.0.0.1:5001",
                "before": "-3600",
                "after": "70",
                "at": "90",
            }
        ],
    ),
    "one that had gone comes back in another process": (
        [
            *BOTH,
            *every(75, 105, a="0123"),
            *saying(every(120, 150, a="01", b="23"), b={**ELSEWHERE, "started_at": at(110)}),
        ],
        {},
        "joined",
        [{**CAME_B, "address": "10.0.0.1:5001", "at": "120"}],
    ),
    "another connection of one that never said when it started": (
        [*every(0, 60, a="01", b=None), *saying(every(75, 105, a="01", b=None), b=ELSEWHERE)],
        {},
        "joined, gone",
        [{**CAME_B, "address": "10.0.0.1:5001"}, WENT_B],
    ),
    "a process that started earlier takes the id": (
        [*BOTH, *saying(every(75, 105, a="01", b="23"), b={"started_at": at(-7200)})],
        {},
        "joined, gone",
        [CAME_B, WENT_B],
    ),
    "a second process under an id": (
        [*BOTH, *saying(every(75, 105, a="01", b="23"), b={"doubled_us": us(75)})],
        {},
        "joined",
        [{"cause": "joined", "client_id": "b", "as": "a second process under this id", "at": "75"}],
    ),
    "queues were added": (
        [*every(0, 60, a="0123"), *every(75, 105, a="012345")],
        {"queues": [*queues(4), *queues(6, first_seen_us=us(45))[4:]]},
        "queue_count",
        [{"cause": "queue_count", "topic": "Orders", "before": 4, "after": 6, "at": "45"}],
    ),
    "queues were taken away": (
        [*every(0, 60, a="0123"), *every(75, 105, a="012")],
        {"queues": [*queues(3), other(3, readable=False, readable_us=us(90))]},
        "queue_count",
        [{"cause": "queue_count", "topic": "Orders", "before": 4, "after": 3, "at": "90"}],
    ),
    "queues that were picked up before are no cause": (
        [*every(0, 60, a="0123"), *every(75, 105, a="01", b="23")],
        {"queues": queues(4, first_seen_us=us(-30))},
        "joined",
        [CAME_B],
    ),
    "a member subscribes to something else": (
        [*BOTH, *saying(every(75, 105, a="01", b="23"), b={"subscription": "Orders TAG red"})],
        {},
        "subscription",
        [{"cause": "subscription", "client_id": "b", "before": "Orders TAG *", "after": "Orders TAG red", "at": "75"}],
    ),
    "a member shares out by another strategy": (
        [*BOTH, *saying(every(75, 105, a="01", b="23"), b={"strategy": "AllocateMessageQueueByMachineRoom"})],
        {},
        "strategy",
        [
            {
                "cause": "strategy",
                "client_id": "b",
                "before": STRATEGY,
                "after": "AllocateMessageQueueByMachineRoom",
                "at": "75",
            }
        ],
    ),
    "a broker was away": (
        [*BOTH, *partly(every(75, 90, a="0", b="2")), *every(105, 135, a="0", b="2")],
        {"brokers": [{"broker": "broker-a", "at_us": us(75), "is_read": False}], "queues": queues(4)[::2]},
        "broker",
        [{"cause": "broker", "broker": "broker-a", "at": "75"}],
    ),
    "a broker that was away long before is no cause": (
        [*ALONE, *every(75, 105, a="01", b="23")],
        {"brokers": [{"broker": "broker-a", "at_us": us(-60), "is_read": False}]},
        "joined",
        [CAME_B],
    ),
    "a queue that was not pulled from is given to nobody": (
        [*saying(every(0, 60, a="01"), a=STUCK), *saying(every(75, 105, a="1"), a={"sub_version": at(74)})],
        {},
        "unknown",
        [{"cause": "unknown"}],
    ),
    "a queue that was not pulled from is taken anew": (
        [*saying(every(0, 60, a="0"), a=STUCK), *saying(every(75, 105, a="0"), a={"sub_version": at(74)})],
        {"queues": queues(1)},
        "pull_stuck",
        [
            {
                "cause": "pull_stuck",
                "client_id": "a",
                "topic": "Orders",
                "broker": "broker-a",
                "queue_id": 0,
                "last_pull": "-46",
                "at": "75",
            }
        ],
    ),
    "queues move, and nothing tells why": (
        [*BOTH, *every(75, 105, a="02", b="13")],
        {},
        "unknown",
        [{"cause": "unknown"}],
    ),
    "queues are taken anew, and nothing tells why": (
        [
            *saying(BOTH, a={"sub_version": at(-9)}, b={"sub_version": at(-20)}),
            *saying(every(75, 105, a="01", b="23"), a={"sub_version": at(70)}, b={"sub_version": at(-20)}),
        ],
        {},
        "unknown",
        [{"cause": "unknown"}],
    ),
}
TIMES = ("at", "last_seen", "silent_since", "last_pull")


@pytest.fixture(scope="module")
def events():
    # Of two of one group the later.
    return {row["group"]: row for row in rebalances({name: case[:2] for name, case in CASES.items()}, Durations())}


def moments(entry):
    """The moments of an entry, which are 15 s and more apart, as seconds of the history."""

    def told(name, value):
        is_moment = name in TIMES or (entry["cause"] == "restarted" and name in ("before", "after"))
        return f"{(datetime.fromisoformat(value) - at(0)).total_seconds():g}" if is_moment else value

    return {name: told(name, value) for name, value in entry.items()}


@pytest.mark.parametrize("name", CASES)
def test_it_names_what_was_seen(events, name):
    _, _, cause, evidence = CASES[name]
    row = events[name]
    assert (row["cause"], [moments(entry) for entry in json.loads(row["evidence"])]) == (cause, evidence)


def test_a_members_clock_dates_it_between_the_two_readings(events):
    assert seconds(events["queues are taken anew, and nothing tells why"]["dated_us"]) == 70


def test_without_such_a_clock_it_has_no_date(events):
    assert events["a member joins"]["dated_us"] is None
