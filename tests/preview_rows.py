"""Stored history for previews of rules, and what they say of it in few words."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from consumers.alerts.measures.registry import SPECS
from consumers.alerts.preview.values import Grid, Past, PastScan, Retention, Values
from consumers.alerts.preview.work import answer
from consumers.lake.store import Lake
from consumers.models import ConsumerGroup, GroupWindow, Measure, PipelineRun
from tests.alert_rows import a_preview
from tests.pipeline_rows import put
from tests.world import NOW, ago

HOUR = 3600
DAYS = {"readings": 2, "windows_60": 7, "windows_600": 90}
HOLDS = (timedelta(seconds=270), timedelta(seconds=45), timedelta(seconds=900), timedelta(seconds=45))
KEPT = Retention({name: timedelta(days=days) for name, days in DAYS.items()}, *HOLDS)
LAG: dict[str, Any] = {"measure": "lag_messages", "comparison": "above", "threshold": 100.0, "for_seconds": 120.0}


def a_rule_of(**said: Any) -> dict[str, Any]:
    return {"name": "Behind", "severity": "warning", "clear_seconds": 60.0, **said}


def asked(folder: Path, rule: dict[str, Any], *, seconds: float = HOUR, kept: Retention = KEPT) -> dict[str, Any]:
    """Of the range that ends now."""
    past = Past(Lake.at(str(folder)), lambda: None)
    return answer(past, a_preview(rule=rule, since=ago(seconds), until=NOW), kept, NOW)


def past_values(measure: Measure, groups: Mapping[int, int], grid: Grid, past: Past) -> Iterator[Values]:
    """As a preview of the measure reads them."""
    source = SPECS[measure].past
    assert source is not None
    return source.read(PastScan(groups, {}, "", grid, past, KEPT))


def windows(
    group: ConsumerGroup, values: list[Any], *, step: int = 60, field: str = "lag_messages", **fields: Any
) -> None:
    """One window for each value, the last ending now; "gap" has none."""
    GroupWindow.objects.bulk_create(
        GroupWindow(
            group=group,
            step_seconds=step,
            start=ago(step * (len(values) - number)),
            **{"readings": 4, field: value, **fields},
        )
        for number, value in enumerate(values)
        if value != "gap"
    )


def judged(*ages: float) -> None:
    PipelineRun.objects.bulk_create(
        PipelineRun(since=ago(age + 60), until=ago(age), started_at=ago(age), finished_at=ago(age)) for age in ages
    )


def members_told(folder: Path, *groups: ConsumerGroup, seconds: float = 2 * HOUR, members: int | None = 2) -> None:
    """Every ten minutes of so long, and now; null members: not every broker answered."""
    answers = [
        {"cluster": group.cluster.name, "group": group.name, "taken_at": ago(600 * number), "members": members}
        for group in groups
        for number in range(int(seconds / 600) + 1)
    ]
    put(Lake.at(str(folder)), "membership", [{**one, "complete": members is not None} for one in answers])


def told(result: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Subject, and seconds before now of the begin, the firing and the end of each incident, the oldest first."""
    names = ("from", "fired_at", "to")
    return [
        (one["subject"]["title"], *(one[name] and seconds_ago(one[name]) for name in names))
        for one in reversed(result["incidents"])
    ]


def seconds_ago(text: str) -> float:
    return (NOW - datetime.fromisoformat(text)).total_seconds()
