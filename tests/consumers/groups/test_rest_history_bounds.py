"""How much of the past is answered at once, and what is said of more."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from consumers.lake.store import Lake
from consumers.models import PipelineRun, QueueSnapshot
from consumers.rest import requests
from tests.browser.windows import put_windows
from tests.world import NOW, a_broker, a_cluster, a_group, a_queue, a_snapshot, ago

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("stopped_clock")]
PATH = "/api/v1/groups/prod/billing/history/"
MINUTE = timedelta(minutes=1)
TWO_HOURS = {"from": "2026-03-14T01:00:00Z", "to": "2026-03-14T03:00:00Z"}


@pytest.fixture
def asked(api: Client, settings: Any, tmp_path: Any) -> Any:
    """By queue: four queues, of which the last ten minutes are known; 240 points fit."""
    settings.CONSUMERSCOPE_LAKE, settings.HISTORY_POINTS = str(tmp_path), 240
    cluster = a_cluster()
    a_broker(cluster)
    PipelineRun.objects.create(since=ago(90), until=NOW, started_at=NOW, finished_at=NOW, seconds=1.0)
    group = a_group(cluster)
    for number in range(4):
        a_snapshot(group, a_queue(cluster, "Orders", number), 1, 2)
    lags = {number: [number] * 10 for number in range(4)}
    put_windows(Lake.at(str(tmp_path)), group, NOW - 10 * MINUTE, lags, "")
    return lambda **query: api.get(PATH, {"by": "queue", **query})


def refusal(answer: Any) -> str:
    assert answer.status_code == 400, answer.content[:300]
    [sentence] = answer.json()["errors"]["step"]
    return sentence


def test_more_points_than_are_answered_are_refused_with_what_would_fit(asked):
    assert refusal(asked(step=60, **TWO_HOURS)) == (
        "4 queues × 120 windows of 60 s are 480 points; the maximum is 240 (HISTORY_POINTS). "
        "Do one of these: use a step of 600 s; use a range of at most 1 h; name at most 2 queues."
    )


@pytest.mark.parametrize(
    "fits",
    [{"step": 600}, {"step": 60, "from": "2026-03-14T02:00:00Z"}, {"step": 60, "topic": "Orders", "queue_id": 3}],
)
def test_what_a_refusal_names_is_answered(asked, fits):
    answer = asked(**{**TWO_HOURS, **fits})
    assert answer.status_code == 200, answer.content[:300]
    assert sum(len(series["points"]) for series in answer.json()["series"]) <= 240


def test_without_a_step_the_shortest_that_fits_is_taken(asked):
    answer = asked(**TWO_HOURS)
    assert answer.json()["step_seconds"] == 600


def test_queues_that_the_group_has_no_more_count_too(asked):
    QueueSnapshot.objects.all().delete()
    assert "4 queues × 120 windows" in refusal(asked(step=60, **TWO_HOURS))


def test_far_more_rows_than_fit_are_not_read_to_their_end(asked, settings):
    QueueSnapshot.objects.all().delete()
    settings.HISTORY_POINTS = 30
    sentence = refusal(asked(step=60, to="2026-03-14T03:00:00Z", **{"from": "2026-03-14T02:40:00Z"}))
    assert sentence.startswith("The group has more than ")


def test_topics_are_sums_of_as_many_points(asked):
    assert "4 queues × 120 windows" in refusal(asked(by="topic", step=60, **TWO_HOURS))


def test_named_queues_are_told_alone(asked):
    series = asked(broker="broker-a", queue_id=2).json()["series"]
    assert [(one["topic"], one["broker"], one["queue_id"]) for one in series] == [("Orders", "broker-a", 2)]
    assert [point["lag_messages"] for point in series[0]["points"]][-10:] == [2] * 10


@pytest.mark.parametrize(("by", "name"), [("group", "topic"), ("topic", "broker"), ("topic", "queue_id")])
def test_a_sum_is_of_no_part_of_its_queues(asked, by, name):
    answer = asked(by=by, **{name: "1"})
    assert answer.json()["errors"] == {name: [f"Not valid with by={by}. Use by=queue, or leave this out."]}


def test_the_points_of_an_answer_are_what_its_fields_say(asked):
    point = asked(queue_id=1).json()["series"][0]["points"][-1]
    assert point == {
        "at": "2026-03-14T02:59:00Z",
        "lag_messages": 1,
        "time_lag_seconds": None,
        "consume_rate": point["consume_rate"],
        "produce_rate": point["produce_rate"],
        "readings": 4,
        "unknown_reason": None,
        "unknown": point["unknown"],
        "complete": True,
    }


def test_a_body_with_a_list_longer_than_anybody_means_is_refused(operator_api):
    places = [{"topic": "Orders", "broker": "broker-a", "queue_id": 0}] * (requests.LONGEST + 1)
    answer = operator_api.post("/api/v1/resets/", json.dumps({"queues": places}), content_type="application/json")
    assert answer.status_code == 400
    assert answer.json()["detail"] == "A list or object of the body has more than 20,000 entries. Ask for less at once."
