"""A group of which every measure with a past is known, then unknown for a cause, then known again: minute by minute, as
rows of each minute for the evaluation, and as the history that the minutes leave for previews.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import numpy as np

from consumers.alerts.measured import column_key
from consumers.alerts.measures.registry import SPECS, measured
from consumers.alerts.preview.judged import decided
from consumers.alerts.preview.request import chosen
from consumers.alerts.preview.values import Grid, Past
from consumers.alerts.preview.work import values_of
from consumers.alerts.rule_terms import RuleTerms
from consumers.lake.store import Lake
from consumers.models import (
    AlertRule,
    Broker,
    ConsumerGroup,
    GroupState,
    GroupTotal,
    GroupWindow,
    Measure,
    PipelineRun,
    QueueSnapshot,
    StateChange,
)
from consumers.vocabulary.reasons import stored_reason
from consumers.vocabulary.states import UnknownReason
from tests import pipeline_rows
from tests.consumers.alerts.measures.group_rows import rules
from tests.preview_rows import KEPT
from tests.rebalance_rows import a_rebalance, a_repeat
from tests.world import (
    NOW,
    a_broker,
    a_cluster,
    a_group,
    a_judged_group,
    a_judged_queue,
    a_queue,
    a_reading,
    a_snapshot,
    a_total,
    ago,
)

# In minutes before now. Shares of an hour are known long before the gap, and known again long after it.
BEGIN, GAP, BACK = 165, 90, 78
LOOKED_AT = (95, *range(92, 83, -1), *range(80, 74, -1), 70, 40, 15, 0)
# No value passes: a bound below it says nothing.
FAR_ABOVE = 1e9
GRID = 100
BEHIND_BYTES = 64 * 2**20
VALUES: dict[str, Any] = {"lag_messages": 150, "time_lag_seconds": 400.0, "consume_rate": 12.0, "produce_rate": 10.5}
VOLUMES = {"into_retry": 6, "out_of_retry": 6, "into_dlq": 1, "consumed": 12}
Key = tuple[Measure, str, str]  # with the topic of the rule, and the key of the subject
Told = dict[Key, dict[int, Any]]  # by minute


class Cause(StrEnum):
    BROKER_FAILS = "a broker does not answer"
    NOTHING_SCRAPED = "nothing is scraped"
    NO_NAME_SERVER = "no name server answers, and no broker"
    NOTHING_EVALUATED = "nothing is evaluated"
    NOTHING_RUNS = "nothing is scraped or evaluated"
    NO_MEMBERS_TOLD = "a broker does not tell the members"
    QUEUE_UNKNOWN = "a queue is unknown"
    OFFSET_LOST = "an offset is lost"
    DISPATCH_BEHIND = "a broker is behind with its dispatch"


UNSCRAPED = (Cause.NOTHING_SCRAPED, Cause.NOTHING_RUNS)
UNREAD = (Cause.BROKER_FAILS, Cause.NO_NAME_SERVER, *UNSCRAPED)
OF_LAG = {
    Cause.QUEUE_UNKNOWN: UnknownReason.CONSUMER_AHEAD,
    Cause.OFFSET_LOST: UnknownReason.OFFSET_LOST,
    Cause.DISPATCH_BEHIND: stored_reason(UnknownReason.DISPATCH_BEHIND, broker="broker-a", behind_bytes=BEHIND_BYTES),
}


def the_rules() -> list[AlertRule]:
    """One of each measure that has a past, and one with a topic where there is such a past."""
    pasts = {measure: spec.past for measure, spec in SPECS.items() if spec.past is not None}
    of_topics = tuple(measure for measure, past in pasts.items() if past.read_topic is not None)
    found = [*rules(measures=tuple(pasts)), *rules("Orders", measures=of_topics)]
    for rule in found:
        rule.threshold = FAR_ABOVE if rule.threshold is not None else None
    return found


@dataclass
class PastMinutes:
    """`evaluated`: what rules looked at, by minute; None is unknown, and so is a bound that does not pass."""

    cause: Cause
    lake: Lake
    group: ConsumerGroup = field(init=False)
    evaluated: Told = field(default_factory=dict)
    windows: list[GroupWindow] = field(default_factory=list)

    def run(self) -> None:
        self._begin()
        for minute in range(BEGIN, -1, -1):
            self._pass(minute, self._cause_at(minute), self._cause_at(minute + 1))
            if minute in LOOKED_AT:
                for key, value in looked_at(ago(60 * minute)).items():
                    self.evaluated.setdefault(key, {})[minute] = value
        self._put_history()

    def _begin(self) -> None:
        cluster = a_cluster(read_at=None)
        a_broker(cluster, file_reserved_hours=72)
        queue = a_queue(cluster)
        self.group = a_group(cluster, settled_at=ago(60 * BEGIN))
        a_snapshot(self.group, queue, 0, 150)
        a_total(self.group, 150)
        a_judged_group(self.group, "STALL", since=ago(60 * BEGIN))
        a_judged_queue(self.group, queue, "STALL", time_lag_seconds=400.0)
        for minute in (120, 95, 50, 20):
            a_rebalance(self.group, ago(60 * minute + 5))
            a_repeat(self.group, ago(60 * minute + 5))

    def _cause_at(self, minute: int) -> Cause | None:
        return self.cause if BACK < minute <= GAP else None

    def _pass(self, minute: int, cause: Cause | None, before: Cause | None) -> None:
        """What changes does so with the last scrape of the minute."""
        at = ago(60 * minute)
        for seconds in (45, 30, 15):
            self._scrape(at - timedelta(seconds=seconds), before)
        self._scrape(at, cause)
        self._note_lag(at, cause)
        # The scrape at the end of a minute is of the next one; brokers that are not read have no row of it.
        self._window(at, before if cause in UNREAD or before in UNREAD else cause)
        if cause not in (Cause.NOTHING_EVALUATED, Cause.NOTHING_RUNS):
            is_hour_known = self.cause not in UNREAD or not BACK - 60 <= minute < GAP
            self._evaluate(at, before if cause in UNREAD else cause, is_hour_known=is_hour_known)

    def _scrape(self, at: datetime, cause: Cause | None) -> None:
        if cause in UNSCRAPED:
            return
        is_read, behind = cause not in UNREAD, BEHIND_BYTES if cause is Cause.DISPATCH_BEHIND else 0
        error = None if is_read else "refused"
        entry = {"name": "broker-a", "read": is_read, "error": error, "dispatch_behind_bytes": behind}
        without = cause is Cause.NO_NAME_SERVER
        a_reading(self.group.cluster, at, brokers=[] if without else [entry], error=error if without else None)
        if is_read:
            Broker.objects.update(last_read_at=at, failing_since=None, dispatch_behind_bytes=behind)
        else:
            Broker.objects.filter(failing_since=None).update(failing_since=at, error=error)
        is_told = is_read and cause is not Cause.NO_MEMBERS_TOLD
        told = {"members": 2, "membership_error": None, "membership_at": at}
        ConsumerGroup.objects.update(**told if is_told else {"members": None, "membership_error": "no answer"})

    def _note_lag(self, at: datetime, cause: Cause | None) -> None:
        reason = OF_LAG.get(cause) if cause else None
        is_behind, is_lost = cause is Cause.DISPATCH_BEHIND, cause is Cause.OFFSET_LOST
        if reason is not None:
            GroupTotal.objects.filter(last_good_at=None).update(last_good_at=at - timedelta(seconds=60))
        GroupTotal.objects.update(
            **({"last_good_at": None} if reason is None else {}),
            lag_messages=150 if reason is None else None,
            lag_messages_at_least=150 if reason is None or is_behind else None,
            unknown_reason=reason,
            lost_queues=int(is_lost),
        )
        QueueSnapshot.objects.update(unknown_reason=None if is_behind else reason)

    def _window(self, at: datetime, cause: Cause | None) -> None:
        """Those of minutes that nobody scraped do not exist; others come as soon as something is evaluated."""
        if cause in UNSCRAPED:
            return
        reason = UnknownReason.BROKER_UNREAD if cause in UNREAD else OF_LAG.get(cause) if cause else None
        is_lagging = reason is None or cause is Cause.DISPATCH_BEHIND
        fields = {name: value if is_lagging else None for name, value in VALUES.items()}
        volumes = {name: None if cause in UNREAD else value for name, value in VOLUMES.items()}
        said = {"unknown_reason": None if is_lagging else reason, "readings": 4, **fields, **volumes}
        start = at - timedelta(seconds=60)
        self.windows.append(GroupWindow(group=self.group, step_seconds=60, start=start, **said))

    def _evaluate(self, at: datetime, cause: Cause | None, *, is_hour_known: bool) -> None:
        newest = PipelineRun.objects.order_by("-until").first()
        since = ago(60 * (BEGIN + 1)) if newest is None else newest.until
        PipelineRun.objects.create(since=since, until=at, started_at=at, finished_at=at)
        unwritten = [window for window in self.windows if window.pk is None]
        GroupWindow.objects.bulk_create(unwritten)
        row = GroupState.objects.get()
        is_known = cause not in (*UNREAD, Cause.QUEUE_UNKNOWN, Cause.OFFSET_LOST)
        row.judged_at, row.retry_share = at, 0.5 if is_hour_known else None
        for name in ("time_lag_seconds", "consume_rate", "produce_rate"):
            setattr(row, name, VALUES[name] if is_known else None)
        row.drain_seconds = 100.0 if is_known else None
        row.expiry_forecast = "none" if is_known else "no_time_lag"
        before, row.state = row.state, "LOSS" if cause is Cause.OFFSET_LOST else "STALL"
        row.rule = "offset_lost" if cause is Cause.OFFSET_LOST else "blocked"
        row.save()
        if before != row.state:
            StateChange.objects.create(group=self.group, at=at, before=before, after=row.state, rule=row.rule)

    def _put_history(self) -> None:
        place = {"cluster": "prod", "group": self.group.name}
        answers = [
            {**place, "taken_at": ago(60 * minute), "complete": told, "members": 2 if told else None}
            for minute in range(BEGIN, -1, -1)
            if not (is_gap := BACK < minute <= GAP) or self.cause not in UNSCRAPED
            if (told := not is_gap or self.cause not in (*UNREAD, Cause.NO_MEMBERS_TOLD)) is not None
        ]
        pipeline_rows.put(self.lake, "membership", answers)
        queue = {**place, "topic": "Orders", "broker": "broker-a", "queue_id": 0, "kind": "normal", "step_seconds": 60}
        rows = [
            {**queue, "start": window.start, "readings": 4, "time_lag_kind": "exact", **_of_queue(window)}
            for window in self.windows
            if window.unknown_reason != UnknownReason.BROKER_UNREAD
        ]
        pipeline_rows.put(self.lake, "windows_60", rows, time="start")


def _of_queue(window: GroupWindow) -> dict[str, Any]:
    return {name: getattr(window, name) for name in ("lag_messages", "time_lag_seconds", "unknown_reason")}


def looked_at(at: datetime) -> dict[Key, Any]:
    """What an evaluation looks at: a lower bound that does not pass says nothing."""
    found: dict[Key, Any] = {}
    wanted = the_rules()
    seen = measured(at, wanted)
    for rule in wanted:
        whole = (seen.groups, seen.brokers, seen.clusters, seen.site)
        for table in (seen.topics[rule.topic],) if rule.topic else whole:
            if (column := table.columns.get(column_key(rule))) is None:
                continue
            for place, subject in enumerate(table.subjects):
                key, value = (Measure(rule.measure), rule.topic, subject.key), column.values[place]
                is_void = value is not None and column.is_bound(place) and not RuleTerms.of(rule).own.holds(value)
                found[key] = None if is_void else value
    return found


def looked_back_at(lake: Lake) -> Told:
    """What a preview that is asked for now looks at."""
    found: Told = {}
    for rule in the_rules():
        selected, measure = chosen(rule, NOW), Measure(rule.measure)
        grid = Grid(ago(60 * GRID), NOW, 60)
        keys = [(measure, rule.topic, subject.key) for subject in selected.subjects]
        found |= {key: dict.fromkeys(range(GRID - 1, -1, -1)) for key in keys}
        for values in values_of(Past(lake, lambda: None), rule, selected, grid, KEPT):
            values = decided(values, selected.terms)
            for place, row in zip(values.places.tolist(), values.value, strict=True):
                told = [None if np.isnan(value) else value for value in row.tolist()]
                found[keys[place]] = dict(zip(range(GRID - 1, -1, -1), told, strict=True))
    return found
