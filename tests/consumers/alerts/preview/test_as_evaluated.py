"""A replay finds what evaluations found, minute by minute, over the same rows."""

import random
from datetime import datetime, timedelta

import pytest

from consumers.alerts.evaluation.run import evaluate
from consumers.alerts.preview.judged import CODES
from consumers.lake.store import Lake
from consumers.models import (
    Broker,
    GroupState,
    GroupTotal,
    Incident,
    Measure,
    PipelineRun,
    QueueSnapshot,
    State,
    StateChange,
)
from consumers.vocabulary.states import UnknownReason
from tests import pipeline_rows
from tests.alert_rows import a_rule
from tests.consumers.alerts.preview.past_minutes import LOOKED_AT, Cause, PastMinutes, looked_back_at
from tests.preview_rows import asked, windows
from tests.world import a_broker, a_cluster, a_group, a_judged_group, a_queue, a_reading, a_snapshot, a_total, ago

pytestmark = pytest.mark.django_db

MINUTES, GROUPS = 100, 6
AHEAD = "ahead"
# Of the lag: below both thresholds, between them, above one, above that of the override; and not known.
LAGS = (0, 80, 80, 150, 150, 150, 500, 500, None)
STATES = ("OK", "OK", "STALL", "STALL", "WARN")
OWN = [
    {"group_pattern": "group-0", "threshold": 400.0, "for_seconds": 0.0},
    {"group_pattern": "group-1", "enabled": False},
]
WAITS = {"for_seconds": 120.0, "clear_seconds": 120.0, "severity": "warning"}
ABOVE = {"comparison": "above", "threshold": 100.0, "clear_threshold": 50.0, **WAITS}
RULES = {
    "lag": {"measure": "lag_messages", "overrides": OWN, **ABOVE},
    "topic": {"measure": "lag_messages", "topic": "Orders", **ABOVE},
    "state": {"measure": "state", "comparison": "in", "states": ["STALL"], **WAITS},
}


@pytest.fixture
def history(tmp_path):
    """An hour and more of six groups: lags of each minute, and states; a broker is silent and the pipeline stops.

    While it stops nothing contradicts the last states: no lag is 0, which would end a STALL, and that is not kept.
    """
    dice = random.Random(5)
    cluster = a_cluster(read_at=None)
    a_broker(cluster)
    groups = [a_group(cluster, f"group-{number}", first_seen_at=ago(86_400)) for number in range(GROUPS)]
    queue = a_queue(cluster, "Orders")
    for group in groups:
        a_total(group, 0)
        a_snapshot(group, queue, 0, 0)
        a_judged_group(group, "OK")
    for rule, said in RULES.items():
        a_rule(rule, changed_at=ago(30 * 86_400), **{"for_seconds": 0, **said})
    lags, was_silent = {group.pk: [] for group in groups}, False
    for minute in range(MINUTES, -1, -1):
        at, is_silent, is_judged = ago(60 * minute), 40 <= minute < 48, not 60 <= minute < 70
        if not is_silent:
            Broker.objects.update(last_read_at=at)
        a_reading(cluster, at)
        if is_judged:
            PipelineRun.objects.create(since=at, until=at, started_at=at, finished_at=at)
        for group in groups:
            lag = dice.choice(LAGS) if dice.random() < 0.3 or not lags[group.pk] else lags[group.pk][-1]
            lag = lag if is_judged or lag != 0 else 80
            lags[group.pk].append(lag)
            read(group.pk, lag)
            if is_judged:
                told = dice.choice(STATES) if dice.random() < 0.2 or was_silent else None
                judge(group.pk, at, "UNKNOWN" if is_silent else told)
        was_silent = is_silent
        if minute < MINUTES:
            evaluate(at, lambda at=at: at)
    put_windows(tmp_path, groups, lags)
    return tmp_path


def read(group, lag):
    reason = AHEAD if lag is None else None
    GroupTotal.objects.filter(group=group).update(lag_messages=lag, unknown_reason=reason)
    QueueSnapshot.objects.filter(group=group).update(broker_offset=lag or 0, unknown_reason=reason)


def judge(group, at, state):
    row = GroupState.objects.get(group=group)
    row.judged_at = at
    if state is not None and state != row.state:
        still = {"still_seconds": 90.0} if state == "STALL" else {}
        since = at - timedelta(seconds=still.get("still_seconds", 0))
        StateChange.objects.create(group_id=group, at=at, before=row.state, after=state, rule="blocked", detail=still)
        row.state, row.since = state, since
    row.save()


def put_windows(folder, groups, lags):
    silent = range(MINUTES - 47, MINUTES - 39)
    found = []
    for group in groups:
        said = [None if number in silent else lag for number, lag in enumerate(lags[group.pk])]
        # The first minute ends as the range begins.
        windows(group, said[1:])
        mine = group.windows.filter(lag_messages=None)
        mine.update(unknown_reason=AHEAD)
        mine.filter(start__gte=ago(60 * 48), start__lt=ago(60 * 40)).update(unknown_reason=UnknownReason.BROKER_UNREAD)
        place = {"cluster": "prod", "group": group.name, "topic": "Orders", "broker": "broker-a", "queue_id": 0}
        for number, lag in enumerate(said):
            if number not in silent:
                fields = {"kind": "normal", "step_seconds": 60, "readings": 4, "time_lag_kind": "exact"}
                why = AHEAD if lag is None else None
                start = ago(60 * (MINUTES - number + 1))
                found.append({**place, **fields, "start": start, "lag_messages": lag, "unknown_reason": why})
    pipeline_rows.put(Lake.at(str(folder)), "windows_60", found, time="start")


def test_both_fire_of_the_same_at_the_same_time(history):
    for name, said in RULES.items():
        result = asked(history, {"name": name, **said}, seconds=MINUTES * 60)
        replayed = {
            (one["subject"]["title"], *(one[at] and datetime.fromisoformat(one[at]) for at in ("fired_at", "to")))
            for one in result["incidents"]
        }
        kept = Incident.objects.filter(rule__name=name, fired_at__isnull=False)
        fired = {(of(one), one.fired_at, one.resolved_at) for one in kept}
        assert len(fired) > 5
        assert replayed == fired, name
        assert (result["evaluated"]["fired"], result["evaluated"]["reasons"]) == (len(fired), [])


def of(incident):
    return f"{incident.group_name} on {incident.topic_name}" if incident.topic_name else incident.group_name


OF_SCRAPES = {Measure.BROKER_UNREAD, Measure.NAME_SERVER, Measure.READING_AGE, Measure.JUDGEMENT_AGE}
OF_MEMBERS = {Measure.REBALANCES, Measure.REPEATS, Measure.REDELIVERED, Measure.UNSETTLED}
OF_LAG = {Measure.LAG, Measure.TIME_LAG, Measure.DRAIN, Measure.EXPIRY, Measure.EXPIRES_UNCONSUMED}
OF_EVALUATIONS = OF_LAG - {Measure.LAG} | OF_MEMBERS | {Measure.RETRY_SHARE, Measure.DLQ_INFLOW}
OF_GROUPS = OF_EVALUATIONS | {Measure.LAG, Measure.STATE, Measure.MEMBERS, Measure.UNKNOWN}
# What a cause leaves unknown. The age of what is not done goes on, and the site's where no cluster is scraped.
UNKNOWN_BY = {
    Cause.BROKER_FAILS: OF_GROUPS,
    Cause.NOTHING_SCRAPED: OF_GROUPS | OF_SCRAPES - {Measure.JUDGEMENT_AGE},
    Cause.NO_NAME_SERVER: OF_GROUPS | {Measure.BROKER_UNREAD},
    Cause.NOTHING_EVALUATED: OF_EVALUATIONS,
    Cause.NOTHING_RUNS: OF_GROUPS | OF_SCRAPES - {Measure.JUDGEMENT_AGE},
    Cause.NO_MEMBERS_TOLD: OF_MEMBERS | {Measure.MEMBERS},
    Cause.QUEUE_UNKNOWN: OF_LAG,
    Cause.OFFSET_LOST: OF_LAG | {Measure.STATE, Measure.UNKNOWN},
    Cause.DISPATCH_BEHIND: OF_LAG,
}


@pytest.mark.parametrize("cause", Cause)
def test_a_preview_is_unknown_wherever_the_evaluation_was(tmp_path, cause):
    minutes = PastMinutes(cause, Lake.at(str(tmp_path)))
    minutes.run()
    seen, told = looked_back_at(minutes.lake), minutes.evaluated
    assert told.keys() == seen.keys()
    assert {key[0] for key, values in told.items() if None in values.values()} == UNKNOWN_BY[cause]
    pairs = [(key, at, value, seen[key][at]) for key, values in told.items() for at, value in values.items()]
    assert [pair for pair in pairs if pair[2] is None and pair[3] is not None] == []
    assert [pair for pair in pairs if pair[1] in (LOOKED_AT[0], LOOKED_AT[-1]) and None in pair] == []
    assert [pair for pair in pairs if None not in pair and as_number(pair[2]) != pytest.approx(pair[3])] == []


def as_number(value):
    return CODES[value] if isinstance(value, State) else value
