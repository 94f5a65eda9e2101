import json
from typing import Any

import pytest

from consumers.retries.ladder_rows import DueRetries, Ladder, LadderRung, LastAttempts, SampledRung, WheelCount
from dashboard.figures.layout import Figure
from dashboard.figures.retry_ladder import retry_ladder
from tests.world import NOW, ago

SILENT = "broker-b is silent"


def rung(level: int = 3, **fields: Any) -> LadderRung:
    values = {"retry": 1, "delay_seconds": 10.0, "broker_backlog": 1200, "sampled": None, "overdue_seconds": 0.0}
    return LadderRung(level=level, **(values | {"unknown": {"sampled": SILENT}} | fields))


def sampled(**fields: Any) -> SampledRung:
    values = {"messages": 12, "looked_at": 40, "of": 1200, "attempts": {1: 10, 3: 2}, "sampled_at": ago(20)}
    return SampledRung(**(values | {"oldest_waiting_at": ago(70), "next_due_at": ago(-30)} | fields))


def ladder(*rungs: LadderRung, **fields: Any) -> Ladder:
    last = LastAttempts(messages=None, next_due_at=None, max_retries=None, reported_by=None)
    due = DueRetries(queues=0, lag_messages=None, lag_messages_at_least=None, oldest_seconds=None)
    values = {"messages": 12, "looked_at": 40, "of": 1200, "oldest_waiting": None, "next_to_fire": None}
    values |= {"last_attempts": last, "due": due, "policy": None, "findings": [], "read_at": ago(5)}
    return Ladder(rungs=rungs, **(values | {"wheel": WheelCount(messages=None, counted_at=None)} | fields))


def trace(figure: Figure, name: str) -> Figure:
    return next(trace for trace in figure["data"] if trace["name"] == name)


@pytest.mark.parametrize(
    ("fields", "label"),
    [
        ({"level": 3, "delay_seconds": 10.0, "retry": 1}, "3 · 10 s · retry 1"),
        ({"level": 18, "delay_seconds": 7200.0, "retry": 16}, "18 · 2 h · retry 16"),
        ({"level": 1, "delay_seconds": 1.0, "retry": None}, "1 · 1 s"),
        ({"level": 4, "delay_seconds": None, "retry": 2}, "4 · ? · retry 2"),
    ],
)
def test_a_rung_is_labelled_by_its_level_delay_and_retry(fields: dict[str, Any], label: str) -> None:
    assert retry_ladder(ladder(rung(**fields)), NOW)["layout"]["yaxis"]["ticktext"] == [label]


def test_the_first_level_stands_on_top() -> None:
    axis = retry_ladder(ladder(rung(1), rung(2), rung(3)), NOW)["layout"]["yaxis"]
    assert (axis["tickvals"], axis["range"]) == ([1, 2, 3], [3.5, 0.5])


def test_what_waits_of_all_groups_and_what_was_found_of_this_one_have_an_axis_each() -> None:
    figure = retry_ladder(ladder(rung(sampled=sampled())), NOW)
    backlog, found = trace(figure, "backlog"), trace(figure, "sampled")
    assert (backlog["x"], backlog["xaxis"], backlog["text"]) == ([1200], "x", ["1,200"])
    assert (found["x"], found["xaxis"], found["text"]) == ([12], "x2", ["12 of 40"])


def test_a_sample_of_all_that_waits_needs_no_fraction() -> None:
    whole = sampled(looked_at=1200)
    assert trace(retry_ladder(ladder(rung(sampled=whole)), NOW), "sampled")["text"] == ["12"]


def test_a_sample_tells_its_oldest_its_next_and_their_retries_on_hover() -> None:
    [said] = trace(retry_ladder(ladder(rung(sampled=sampled())), NOW), "sampled")["hovertext"]
    assert said.split("<br>") == [
        "12 of this group among 40 inspected, of 1,200 waiting",
        "oldest since 02:58:50 UTC",
        "next due at 03:00:30 UTC",
        "retry 1: 10",
        "retry 3: 2",
    ]


def test_what_is_unknown_is_hatched_in_its_panel_and_says_why() -> None:
    unknown = rung(broker_backlog=None, unknown={"broker_backlog": "timed out", "sampled": SILENT})
    figure = retry_ladder(ladder(unknown, rung(4, sampled=sampled())), NOW)
    assert trace(figure, "backlog")["x"] == [None, 1200]
    backlog, found = trace(figure, "unknown backlog"), trace(figure, "unknown sample")
    assert (backlog["y"], backlog["customdata"], backlog["xaxis"]) == ([1], ["timed out"], "x3")
    assert (found["y"], found["customdata"], found["xaxis"]) == ([1], [SILENT], "x4")
    assert backlog["marker"]["pattern"]["shape"] == "/"


@pytest.mark.parametrize(
    ("seconds", "text", "colour"),
    [
        (41.0, "1,200 · 41 s late", "var(--state-stop)"),
        (10.0, "1,200", "var(--heat-2)"),
        (None, "1,200", "var(--heat-2)"),
    ],
)
def test_a_level_whose_first_message_is_overdue_is_loud(seconds: float | None, text: str, colour: str) -> None:
    bars = trace(retry_ladder(ladder(rung(overdue_seconds=seconds)), NOW), "backlog")
    assert (bars["text"], bars["marker"]["color"]) == ([text], [colour])


EMPTY: dict[str, Any] = {"broker_backlog": 0, "sampled": sampled(messages=0, looked_at=0, of=0, attempts={})}


def test_a_level_where_nothing_waits_has_no_row_and_one_that_is_unknown_has() -> None:
    unknown = rung(2, broker_backlog=None, unknown={"broker_backlog": "timed out", "sampled": SILENT})
    axis = retry_ladder(ladder(rung(1, **EMPTY), unknown, rung(3)), NOW)["layout"]["yaxis"]
    assert [text.split(" ")[0] for text in axis["ticktext"]] == ["2", "3"]


def test_where_no_level_has_a_message_it_says_so() -> None:
    figure = retry_ladder(ladder(rung(1, **EMPTY), rung(2, **EMPTY)), NOW)
    assert figure["layout"]["annotations"][-1]["text"] == "No message waits at any of the 2 delay levels"


def test_without_a_level_it_says_why_there_is_none() -> None:
    figure = retry_ladder(ladder(unknown={"rungs": "no broker has said its levels"}), NOW)
    assert figure["layout"]["annotations"][-1]["text"] == "no broker has said its levels"


def test_its_height_grows_with_its_rows_and_it_is_plain_json() -> None:
    few, many = (retry_ladder(ladder(*map(rung, range(1, n + 1))), NOW) for n in (4, 18))
    assert many["layout"]["height"] - few["layout"]["height"] == 14 * 21
    assert json.loads(json.dumps(many, allow_nan=False)) == many
