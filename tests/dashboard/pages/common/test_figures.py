from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from consumers.lake.store import Lake
from consumers.models import ConsumerGroup, GroupWindow, PipelineRun, StateChange
from tests.browser.windows import put_windows
from tests.world import NOW, a_broker, a_cluster, a_group, a_queue, a_snapshot, a_total, ago

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)


@pytest.fixture
def group() -> ConsumerGroup:
    cluster = a_cluster()
    a_broker(cluster)
    PipelineRun.objects.create(since=ago(90), until=NOW, started_at=NOW, finished_at=NOW, seconds=1.0)
    return a_group(cluster, "billing")


def a_window(group: ConsumerGroup, minutes: int, lag: int | None, reason: str | None = None) -> None:
    GroupWindow.objects.create(
        group=group,
        step_seconds=60,
        start=NOW - minutes * MINUTE,
        lag_messages=lag,
        readings=4 if lag is not None else 0,
        unknown_reason=reason,
    )


def figure(client: Client, name: str) -> dict[str, Any]:
    return client.get(f"/figures/prod/billing/{name}/?range=15m").json()


def trace(drawn: dict[str, Any], name: str) -> dict[str, Any]:
    return next(trace for trace in drawn["data"] if trace["name"] == name)


def test_a_missing_window_is_a_gap_and_not_zero(admin_client: Client, group: ConsumerGroup) -> None:
    a_window(group, 1, 30)
    a_window(group, 3, 10)
    assert trace(figure(admin_client, "lag"), "all topics")["y"][-3:] == [10, None, 30]


def test_the_window_that_is_not_over_is_not_drawn_but_the_lag_of_this_moment_is(
    admin_client: Client, group: ConsumerGroup
) -> None:
    PipelineRun.objects.update(until=NOW - timedelta(seconds=30))
    a_window(group, 2, 10)
    a_window(group, 1, 9999)
    a_total(group, 30)
    a_snapshot(group, a_queue(group.cluster), 10, 40)
    drawn = figure(admin_client, "lag")
    line, live = trace(drawn, "all topics"), trace(drawn, "now")
    last = datetime.fromisoformat(line["x0"]) + (len(line["y"]) - 1) * timedelta(milliseconds=line["dx"])
    assert (str(last), line["y"][-1]) == ("2026-03-14 02:59:00", 10)
    assert (live["x"], live["y"]) == (["2026-03-14 02:59:55"], [30])


def test_a_lag_that_is_not_known_now_has_no_marker(admin_client: Client, group: ConsumerGroup) -> None:
    a_total(group, None, unknown_reason="broker-b is silent")
    assert "now" not in [one["name"] for one in figure(admin_client, "lag")["data"]]


def test_an_unknown_window_says_why(admin_client: Client, group: ConsumerGroup) -> None:
    a_window(group, 2, None, "broker-b is silent")
    assert "broker-b is silent" in trace(figure(admin_client, "lag"), "unknown")["customdata"]


def test_windows_that_are_not_aggregated_yet_are_not_drawn(admin_client: Client, group: ConsumerGroup) -> None:
    PipelineRun.objects.update(until=NOW - 2 * MINUTE)
    a_window(group, 3, 10)
    assert trace(figure(admin_client, "lag"), "all topics")["y"][-1] == 10


def test_a_pipeline_that_stands_still_is_a_gap(admin_client: Client, group: ConsumerGroup) -> None:
    PipelineRun.objects.update(until=NOW - 10 * MINUTE)
    hatch = trace(figure(admin_client, "lag"), "unknown")
    assert (hatch["customdata"][-1], hatch["width"][-1]) == ("not aggregated yet", 8 * 60_000)


def test_a_change_of_state_is_marked(admin_client: Client, group: ConsumerGroup) -> None:
    StateChange.objects.create(group=group, at=ago(300), before="OK", after="STALL", rule="blocked")
    assert [mark["text"] for mark in figure(admin_client, "lag")["layout"]["annotations"]] == ["STALL"]


def test_every_queue_is_a_row_of_the_heatmap(admin_client: Client, group: ConsumerGroup, settings: Any) -> None:
    lags = {0: [1, 2, 3], 1: [None, 5, 6]}
    put_windows(Lake.at(settings.CONSUMERSCOPE_LAKE), group, NOW - 3 * MINUTE, lags, "a gap")
    drawn = figure(admin_client, "queues")
    assert [row[-3:] for row in drawn["data"][0]["z"]] == [[1, 2, 3], [None, 5, 6]]
    assert "unknown: a gap" in [trace["name"] for trace in drawn["data"][1:]]


@pytest.mark.parametrize("name", ["lag", "queues"])
def test_a_group_without_a_past_still_has_its_figures(admin_client: Client, group: ConsumerGroup, name: str) -> None:
    assert figure(admin_client, name)["layout"]["xaxis"]["type"] == "date"


@pytest.mark.parametrize("name", ["lag", "queues"])
def test_an_unknown_group_has_none(admin_client: Client, group: ConsumerGroup, name: str) -> None:
    assert admin_client.get(f"/figures/prod/nobody/{name}/").status_code == 404


def test_without_a_queue_the_axis_has_the_range_all_the_same(admin_client: Client, group: ConsumerGroup) -> None:
    drawn = figure(admin_client, "queues")
    assert drawn["layout"]["xaxis"]["range"] == ["2026-03-14 02:45:00", "2026-03-14 03:00:00"]
    assert drawn["layout"]["annotations"][-1]["text"] == "no queue has a known lag in this range"


@pytest.mark.parametrize(("name", "step", "points"), [("30d", 3600, 720), ("90d", 3600, 2160), ("1y", 86400, 365)])
def test_a_long_range_is_drawn_in_windows_of_an_hour_or_a_day(
    admin_client: Client, group: ConsumerGroup, name: str, step: int, points: int
) -> None:
    ConsumerGroup.objects.update(first_seen_at=NOW - timedelta(days=700))
    start = NOW.replace(hour=0) - 20 * timedelta(days=1)
    GroupWindow.objects.create(group=group, step_seconds=step, start=start, lag_messages=12, readings=4)
    drawn = admin_client.get(f"/figures/prod/billing/lag/?range={name}").json()
    total = trace(drawn, "all topics")
    # The window that is not over is not drawn.
    assert len(total["y"]) == points
    assert [value for value in total["y"] if value is not None] == [12]


@pytest.mark.parametrize("tab", ["", "ownership/", "retries/"])
def test_every_tab_with_a_range_offers_months(admin_client: Client, group: ConsumerGroup, tab: str) -> None:
    page = admin_client.get(f"/groups/prod/billing/{tab}?range=90d")
    assert page.status_code == 200
    assert 'href="?range=1y"' in page.text
    assert "the last 90 d" in page.text


@pytest.mark.parametrize("name", ["lag", "queues", "rates", "time-lag", "volumes", "ownership"])
def test_a_figure_begins_where_its_group_was_read_first_and_says_so(
    admin_client: Client, group: ConsumerGroup, name: str
) -> None:
    ConsumerGroup.objects.update(first_seen_at=ago(600))
    layout = figure(admin_client, name)["layout"]
    assert layout["xaxis"]["range"][0] == "2026-03-14 02:50:00"
    assert "collecting since 02:50 UTC" in {note["text"] for note in layout["annotations"]}


def test_a_figure_of_a_group_that_was_read_before_its_range_says_nothing_of_its_beginning(
    admin_client: Client, group: ConsumerGroup
) -> None:
    notes = figure(admin_client, "rates")["layout"]["annotations"]
    assert not [note for note in notes if "collecting" in note["text"]]


def test_rates_of_a_window_that_lacks_one_are_hatched_with_its_reason(
    admin_client: Client, group: ConsumerGroup
) -> None:
    common = {"group": group, "step_seconds": 60, "lag_messages": 4, "readings": 4}
    GroupWindow.objects.create(start=NOW - 3 * MINUTE, consume_rate=2.5, produce_rate=3.5, **common)
    GroupWindow.objects.create(start=NOW - 2 * MINUTE, consume_rate=None, produce_rate=3.5, **common)
    GroupWindow.objects.create(start=NOW - 1 * MINUTE, consume_rate=0.0, produce_rate=3.5, **common)
    drawn = figure(admin_client, "rates")
    assert trace(drawn, "produced")["y"][-3:] == [3.5, 3.5, 3.5]
    assert trace(drawn, "consumed")["y"][-3:] == [2.5, None, 0.0]
    assert trace(drawn, "unknown")["customdata"][-1].startswith("consumed: ")
    assert trace(drawn, "unknown")["x"][-1] == "2026-03-14 02:58:30"


def test_a_figure_of_a_past_range_ends_with_it_and_has_no_lag_of_this_moment(
    admin_client: Client, group: ConsumerGroup
) -> None:
    a_window(group, 30, 10)
    a_total(group, 30)
    drawn = admin_client.get(
        "/figures/prod/billing/lag/", {"range": "2026-03-14T02:20:00Z..2026-03-14T02:40:00Z"}
    ).json()
    assert drawn["layout"]["xaxis"]["range"] == ["2026-03-14 02:20:00", "2026-03-14 02:40:00"]
    assert [value for value in trace(drawn, "all topics")["y"] if value is not None] == [10]
    assert "now" not in {one["name"] for one in drawn["data"]}


def test_neighbouring_windows_without_a_rate_for_one_reason_are_one_hatch(
    admin_client: Client, group: ConsumerGroup
) -> None:
    a_window(group, 1, 30)
    hatch = trace(figure(admin_client, "time-lag"), "unknown")
    assert len(hatch["customdata"]) == len(set(hatch["customdata"])) == 2
    assert sum(hatch["width"]) == 15 * 60_000
