"""Totals of a range are what its first and its last reading tell, whatever the windows between them do not know."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.conf import LazySettings
from hypothesis import HealthCheck, given, settings as examples, strategies as st

from consumers.lake.store import Lake
from consumers.models import ConsumerGroup, GroupBroker, GroupWindow, PipelineRun, Reading
from consumers.pipeline.volumes import VOLUMES
from consumers.retries.volumes import VolumeTotals, volumes_of
from consumers.vocabulary.reasons import VolumeReason
from consumers.vocabulary.states import UnknownReason
from tests.pipeline_rows import put
from tests.reset_rows import a_reset
from tests.world import NOW, a_broker, a_cluster, a_group, a_reading, ago

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)
RETRY, DEAD = "%RETRY%billing", "%DLQ%billing"
OWN = {"topic": "Orders", "kind": "normal"}
OF_RETRY = {"topic": RETRY, "kind": "retry"}


@pytest.fixture
def group(settings: LazySettings, tmp_path: Path) -> ConsumerGroup:
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    cluster = a_cluster(read_at=None)
    a_broker(cluster)
    PipelineRun.objects.create(since=ago(3600), until=NOW, started_at=NOW, finished_at=NOW)
    return a_group(cluster)


def read(
    group: ConsumerGroup,
    at: datetime,
    *,
    appeared: Sequence[str] = (),
    brokers: Mapping[str, bool] | None = None,
    own: int | None = None,
    retry: tuple[int, int] | None = None,
    dead: int | None = None,
    broker: str = "broker-a",
) -> None:
    """One reading. `own`: the consumer offset; `retry`: consumer and broker offset; `dead`: the broker offset."""
    told = {"read_from": None, "error": None, "topics_appeared": list(appeared)}
    entries = [
        {"name": name, "read": is_read, **told} for name, is_read in ({"broker-a": True} | dict(brokers or {})).items()
    ]
    if not Reading.objects.filter(taken_at=at).exists():
        a_reading(group.cluster, at, brokers=entries, complete=all(entry["read"] for entry in entries))
    place = {"cluster": "prod", "taken_at": at, "broker": broker, "queue_id": 0, "min_offset": 0}
    lake, rows = Lake.at(_location()), []
    if own is not None:
        rows.append({**place, **OWN, "group": "billing", "consumer_offset": own, "broker_offset": own + 5})
    if retry is not None:
        consumer, end = retry
        rows.append({**place, **OF_RETRY, "group": "billing", "consumer_offset": consumer, "broker_offset": end})
    put(lake, "readings", rows, prefix=broker)
    if dead is not None:
        put(lake, "dead_letters", [{**place, "topic": DEAD, "broker_offset": dead}], prefix=broker)


def _location() -> str:
    from django.conf import settings

    return str(settings.CONSUMERSCOPE_LAKE)


def window(group: ConsumerGroup, minutes_ago: float, reason: str | None = None, **volumes: int) -> None:
    """Known of the volumes that are named; 0 of the others unless `reason` says why nothing of it is known."""
    values = dict.fromkeys(VOLUMES, None if reason else 0) | volumes
    unknown = {name: reason for name in VOLUMES if values[name] is None}
    GroupWindow.objects.create(
        group=group, step_seconds=60, start=NOW - minutes_ago * MINUTE, readings=4, volumes_unknown=unknown, **values
    )


def totals(minutes: int = 60) -> VolumeTotals:
    return volumes_of("prod", "billing", NOW - minutes * MINUTE, NOW, NOW).totals


def shown(found: VolumeTotals, name: str) -> tuple[int | None, int | None, datetime | None, str | None]:
    return getattr(found, name), found.at_least[name], found.known_since.get(name), found.unknown.get(name)


def test_a_minute_after_the_first_reading_what_moved_since_is_known(group: ConsumerGroup) -> None:
    """Topics that appear begin at 0: ten redeliveries, five dead letters."""
    first = NOW - timedelta(seconds=55)
    for number in range(11):
        at = first + number * timedelta(seconds=5)
        came = {"retry": (number, number)} | ({"dead": number // 2} if number > 1 else {}) if number else {}
        read(group, at, own=100 + 10 * number, appeared={1: [RETRY], 2: [DEAD]}.get(number, []), **came)
    window(group, 1, VolumeReason.NO_READING_BEFORE)
    found = totals()
    why = "not read before 2026-03-14 02:59:05 UTC"
    assert shown(found, "into_retry") == (None, 10, first, why)
    assert shown(found, "into_dlq") == (None, 5, first, why)
    assert shown(found, "out_of_retry") == (None, 10, first, why)
    assert shown(found, "consumed") == (None, 100, first, why)


def a_gap(group: ConsumerGroup, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Read ten minutes ago, then not, and a minute ago again; the first reading was right before the range."""
    read(group, NOW - 10 * MINUTE - timedelta(seconds=15), **before)
    read(group, NOW - 9.5 * MINUTE, **before)
    window(group, 10, consumed=7)
    read(group, NOW - 0.5 * MINUTE, **after)
    window(group, 1, VolumeReason.NO_READING_BEFORE)


def test_a_gap_between_two_readings_is_their_difference(group: ConsumerGroup) -> None:
    a_gap(group, {"own": 100, "retry": (3, 4), "dead": 1}, {"own": 180, "retry": (13, 24), "dead": 6})
    found = totals(10)
    assert (found.into_retry, found.out_of_retry, found.into_dlq, found.consumed) == (20, 10, 5, 87)
    assert (found.unknown, found.known_since) == ({}, {})


@pytest.mark.parametrize(
    ("before", "after", "name", "at_least"),
    [
        ({"retry": (3, 40)}, {"retry": (3, 24)}, "into_retry", 0),
        ({"own": 180}, {"own": 100}, "consumed", 7),
        ({"own": 100}, {"own": 180, "brokers": {"broker-b": False}}, "consumed", 87),
        ({}, {"retry": (3, 24)}, "into_retry", 0),
        ({"retry": (3, 24)}, {}, "into_retry", 0),
    ],
    ids=["made anew", "went back", "a broker is not read", "nobody saw it appear", "gone"],
)
def test_a_gap_whose_ends_do_not_tell_is_at_least_what_is_known(group, before, after, name, at_least) -> None:
    a_gap(group, before, after)
    value, known, since, reason = shown(totals(10), name)
    assert (value, known, since) == (None, at_least, None)
    assert reason is not None
    assert reason.startswith("9 of 10 windows are unknown: ")


def test_a_reset_in_the_gap_is_no_consumption(group: ConsumerGroup) -> None:
    a_reset(group, started_at=NOW - 5 * MINUTE, finished_at=NOW - 4 * MINUTE)
    a_gap(group, {"own": 100, "retry": (3, 4)}, {"own": 9_000, "retry": (13, 24)})
    found = totals(10)
    assert (found.consumed, found.at_least["consumed"]) == (None, 7)
    assert (found.out_of_retry, found.into_retry) == (None, 20)


def test_a_group_without_a_retry_topic_has_no_retries_since_the_first_reading(group: ConsumerGroup) -> None:
    GroupBroker.objects.create(group=group, broker="broker-a", configured=True, changed_at=ago(9000))
    read(group, NOW - 0.5 * MINUTE, own=100)
    window(group, 1, VolumeReason.NO_READING_BEFORE)
    assert shown(totals(), "into_retry")[1:3] == (0, NOW - 0.5 * MINUTE)


def test_an_offset_that_was_never_committed_is_at_least_what_was_seen(group: ConsumerGroup) -> None:
    first = NOW - 0.8 * MINUTE
    a_reading(group.cluster, first, brokers=[{"name": "broker-a", "read": True}])
    row = {"cluster": "prod", "taken_at": first, "broker": "broker-a", "queue_id": 0, "group": "billing", **OWN}
    put(
        Lake.at(_location()), "readings", [row | {"broker_offset": 50, "unknown_reason": UnknownReason.NEVER_COMMITTED}]
    )
    for number, offset in enumerate((20, 26)):
        read(group, first + (number + 1) * timedelta(seconds=10), own=offset)
    window(group, 1, VolumeReason.NO_READING_BEFORE)
    assert shown(totals(), "consumed")[:2] == (None, 6)


@examples(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(st.tuples(st.integers(10, 400), st.integers(0, 9)), min_size=1, max_size=9),
    is_read_before=st.booleans(),
)
def test_windows_and_holes_add_up_to_the_difference_of_the_ends(
    group: ConsumerGroup, settings: LazySettings, tmp_path: Path, steps: list[tuple[int, int]], is_read_before: bool
) -> None:
    """Readings at any distance, windows as the pipeline makes them of those."""
    for model in (GroupWindow, Reading):
        model.objects.all().delete()
    settings.CONSUMERSCOPE_LAKE = str(tmp_path / uuid4().hex)
    start = NOW - 60 * MINUTE
    at = start + timedelta(seconds=-10 if is_read_before else 5)
    moments, offset = [(at, 100)], 100
    for seconds, messages in steps:
        at, offset = at + timedelta(seconds=seconds), offset + messages
        moments.append((at, offset))
    moments = [one for one in moments if one[0] < NOW - timedelta(seconds=10)]
    moments.append((NOW - timedelta(seconds=10), offset + 3))
    for at, offset in moments:
        read(group, at, own=offset)
    for number in range(60):
        begin = start + number * MINUTE
        inside = [one for one in moments if begin <= one[0] < begin + MINUTE]
        earlier = [one for one in moments if begin - timedelta(seconds=45) <= one[0] < begin]
        if inside and earlier:
            window(group, 60 - number, consumed=inside[-1][1] - earlier[-1][1])
        elif inside:
            window(group, 60 - number, VolumeReason.NO_READING_BEFORE)
    found = totals()
    assert found.at_least["consumed"] == offset - 100
    if is_read_before:
        assert (found.consumed, found.known_since.get("consumed")) == (offset - 100, None)
    else:
        assert found.consumed is None
        assert found.known_since["consumed"] == moments[0][0]
