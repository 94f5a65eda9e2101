"""Numbers of one page or resource agree: parts add up, a sentence and its facts say the same, no length is too long."""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from consumers.models import (
    Assignment,
    Broker,
    DelayLevel,
    GroupState,
    HeadMessage,
    Incident,
    QueueState,
    StateChange,
)
from consumers.overview.queries import overview
from consumers.retries.volumes import VOLUMES
from consumers.urls import urlpatterns as resource_urls
from consumers.vocabulary.states import NO_LAG_REASONS
from tests.walk.addresses import PROD_BILLING, resources
from tests.walk.page_text import said
from tests.walk.test_pages import PATHS as PAGES
from tests.world import NOW, ago

GROUP = "/api/v1/groups/prod/billing/"
OF_QUEUE = re.compile(r"queue (?P<queue_id>\d+) of (?P<topic>\S+) on (?P<broker>\S+): (?P<numbers>.*)")
BEHIND = re.compile(r"lag ([\d,]+) messages?")
# Numbers that every queue has, or the group.
NUMBERS = re.compile(r"\blag \d|consumes |produces |time to drain|time lag ")
# 31 d and more, 24 h and more, 60 min and more; not in a time of day, nor in a number that is longer.
TOO_LONG = re.compile(
    r"(?<![\w.,:])(?:(?:3[1-9]|[4-9]\d|\d{3,}) d|(?:2[4-9]|[3-9]\d|\d{3,}) h|(?:[6-9]\d|\d{3,}) min)(?!\w)"
)
# Of ranges and settings, that somebody chose: the range of a page, what a measure covers.
CHOSEN = re.compile(r"\b24 h\b|\b90 d\b")


def lags(rows: list[dict[str, Any]]) -> list[int | None]:
    """Of those that count: not of dead letters, retired topics, and what has no lag by its nature."""
    counted = [
        row
        for row in rows
        if row["kind"] != "dlq" and row.get("retired_since") is None and row.get("state", "") is not None
        and row["unknown_reason_code"] not in NO_LAG_REASONS
    ]  # fmt: skip
    return [row["lag_messages"] for row in counted]


def test_parts_add_up_to_their_sum(world: str, api: Client) -> None:
    group = api.get(GROUP).json()
    queues = api.get(f"{GROUP}queues/").json()["results"]
    [row] = api.get("/api/v1/groups/").json()["results"]
    seen = overview(since=ago(3600), until=NOW, now=NOW)
    whole = group["lag_messages"]
    assert whole == row["lag_messages"] == seen.lag_messages
    assert group["lag_messages_at_least"] == row["lag_messages_at_least"] == seen.lag_messages_at_least
    for parts in (lags(queues), lags(group["topics"])):
        assert whole is None or whole == sum(lag for lag in parts if lag is not None)
        assert whole is None or None not in parts
    for topic in group["topics"]:
        of_topic = lags([queue for queue in queues if queue["topic"] == topic["topic"]])
        assert topic["lag_messages"] in (None, sum(lag or 0 for lag in of_topic))
    assert row["dlq_day_messages"] == seen.dlq_day_messages


def test_windows_add_up_to_their_totals(world: str, api: Client) -> None:
    found = api.get(f"{GROUP}retries/").json()
    totals, windows = found["totals"], found["windows"]
    for name in VOLUMES:
        known = [window[name] for window in windows if window[name] is not None and window["from"] < totals["to"]]
        at_least = totals["at_least"].get(name)
        if totals[name] is not None:
            assert totals[name] == at_least >= sum(known)
        elif known:
            assert at_least is not None
            assert at_least >= sum(known)
        if totals["known_since"].get(name):
            assert totals[name] is None
            assert not [one for one in windows if one[name] is not None and one["from"] < totals["known_since"][name]]


def sentences(api: Client) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in (GROUP, "/api/v1/groups/"):
        document = api.get(path).json()
        yield from ((row["state_detail"], row) for row in document.get("results", [document]))


def test_a_sentence_of_a_group_names_the_queue_whose_numbers_it_says(world: str, api: Client) -> None:
    queues = {
        (row["topic"], row["broker"], row["queue_id"]): row for row in api.get(f"{GROUP}queues/").json()["results"]
    }
    for text, row in sentences(api):
        of_queue = OF_QUEUE.search(text)
        assert of_queue or not NUMBERS.search(text), text
        if of_queue is None:
            continue
        queue = queues[of_queue["topic"], of_queue["broker"], int(of_queue["queue_id"])]
        if row.get("worst_queue") is not None:
            assert (queue["topic"], queue["queue_id"]) == (row["worst_queue"]["topic"], row["worst_queue"]["queue_id"])
        behind = BEHIND.search(of_queue["numbers"])
        if behind and queue["lag_messages"] is not None and queue["judged_at"] == row["judged_at"]:
            assert int(behind[1].replace(",", "")) == queue["lag_messages"]


def test_every_time_lag_says_the_moment_that_it_is_of(world: str, api: Client) -> None:
    queues = api.get(f"{GROUP}queues/").json()["results"]
    for row in (api.get(GROUP).json(), *queues):
        assert (row["time_lag_at"] is None) == (row["time_lag_seconds"] is None)
        assert row["time_lag_at"] in (None, row["judged_at"], row["taken_at"])


@pytest.fixture
def ages(world: str) -> None:
    """Everything that is so lasts for years, and nothing ever drains."""
    years = ago(timedelta(days=4000).total_seconds())
    GroupState.objects.update(drain_seconds=1.1e16, time_lag_seconds=9e9, since=years)
    QueueState.objects.update(time_lag_seconds=9e9, time_lag_error_seconds=9e9, since=years, detail={
        "still_seconds": 9e9, "drain_seconds": 1.1e16, "time_lag_from_seconds": 8e9, "time_lag_to_seconds": 9e9,
    })  # fmt: skip
    Incident.objects.update(started_at=years, worst_value=9e9)
    StateChange.objects.update(detail={"still_seconds": 9e9})
    Assignment.objects.update(head_since=years, last_lock_at=years, last_pull_at=years)
    HeadMessage.objects.update(since=years, born_at=years, stored_at=years)
    DelayLevel.objects.exclude(next_due_at=None).update(next_due_at=years)
    Broker.objects.exclude(error=None).update(last_read_at=years, failing_since=years)


@pytest.mark.usefixtures("ages")
@pytest.mark.parametrize("world", ["everything_known", "dead_broker"], indirect=True)
def test_no_duration_is_above_its_cap_on_any_page_or_resource(world: str, api: Client) -> None:
    client = Client()
    client.force_login(User.objects.create(username="ada", is_staff=True))
    texts = [(path, text) for path in PAGES if PROD_BILLING["at"] not in path for text in said(client.get(path).text)]
    for path in resources(resource_urls):
        texts += [(path, text) for text in _texts(api.get(path).json())]
    assert [(path, text) for path, text in texts if TOO_LONG.search(CHOSEN.sub("", text))] == []
    assert [path for path, text in texts if "> 30 d" in text]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)
    elif isinstance(value, str):
        yield value


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Drains in 130312489217 d", True),
        ("31 d", True),
        ("for 45 d 2 h", True),
        ("26 h", True),
        ("90 min", True),
        ("> 30 d", False),
        ("29 d 23 h", False),
        ("59 min", False),
        ("2026-03-14 02:59", False),
    ],
)
def test_the_walk_finds_a_length_that_is_too_long(text: str, found: bool) -> None:
    assert bool(TOO_LONG.search(text)) is found
