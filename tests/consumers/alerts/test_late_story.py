"""The pipeline stops for ten minutes, while one group stops, one hangs and another recovers: what everybody says.

Polls go on, four a minute, through the recorder. Beside the truth of each minute stand the list of groups, REST, the
metric and the alert rules; the list and REST must agree, and so must the metric.
"""

import re
from html import unescape

import pytest
import time_machine

from consumers.alerts.evaluation.run import evaluate
from consumers.groups.listing import group_list
from consumers.groups.rows import GroupFilters
from consumers.models import (
    AlertRule,
    Cluster,
    ConsumerGroup,
    GroupState,
    GroupWindow,
    Incident,
    PipelineRun,
    QueueState,
)
from consumers.overview.queries import overview
from consumers.pipeline.runs import OUT_OF_MEMORY
from consumers.polling.record.recorder import Recorder
from dashboard.metrics.families import scrape
from tests.alert_rows import a_rule
from tests.readings import T0, at, broker, group_members, members, reading, row

pytestmark = pytest.mark.django_db

MINUTE, POLL = 60, 15
# Of its topic, 4 messages a second are produced; whoever keeps up is 20 behind.
EVALUATED = {"audit": "OK", "billing": "OK", "inventory": "STALL", "mail": "OK", "search": "WARN"}
GONE_AT, HANGS_AT, RECOVERS_AT, LEVEL_AT, BACK_AT = 2 * MINUTE, 3 * MINUTE, 6 * MINUTE, 8 * MINUTE, 11 * MINUTE


def offsets(seconds):
    """Consumer and broker offset of each group's queue."""
    end = 1000 + 4 * seconds
    of_billing = min(seconds, GONE_AT) if seconds < BACK_AT else seconds
    recovering = seconds >= RECOVERS_AT
    consumed = 100 if seconds >= LEVEL_AT else 40 + (seconds - RECOVERS_AT) // 3 if recovering else 0
    return {
        "audit": (end - 20, end),
        "billing": (1000 + 4 * of_billing - 20, end),
        "inventory": (500 + consumed, 600),
        "mail": (1000 + 4 * min(seconds, HANGS_AT) - 20, end),
        "search": (1000 + 2 * seconds, 4000 + 4 * seconds),
    }


def poll(recorder, seconds):
    rows = [row(name, name.title(), 0, *pair) for name, pair in offsets(seconds).items()]
    away = {"billing"} if GONE_AT <= seconds < BACK_AT else set()
    answers = [group_members(name, *([] if name in away else ["10.0.0.1@1"])) for name in EVALUATED]
    recorder.record(reading(seconds, broker("broker-a", *rows)), members(seconds, answers), None)


def evaluate_once(seconds, states):
    """The pipeline, as it leaves its rows."""
    PipelineRun.objects.create(
        since=at(seconds - 60), until=at(seconds), started_at=at(seconds), finished_at=at(seconds + 4)
    )
    for group in ConsumerGroup.objects.all():
        consumer, end = offsets(seconds)[group.name]
        state, queue = states[group.name], group.snapshots.get().queue
        before = GroupState.objects.filter(group=group).first()
        stays = before is not None and before.state == state
        values = {"state": state, "rule": state.lower(), "judged_at": at(seconds), "time_lag_kind": "interpolated"}
        values |= {"since": before.since if stays else at(seconds), "time_lag_seconds": (end - consumer) / 4}
        QueueState.objects.update_or_create(group=group, queue=queue, defaults=values)
        rates = {"completeness": 1.0, "consume_rate": 4.0, "produce_rate": 4.0, "worst_queue": queue}
        GroupState.objects.update_or_create(group=group, defaults=values | rates)
        GroupWindow.objects.create(
            group=group, step_seconds=60, start=at(seconds - 60), lag_messages=end - consumer, readings=4
        )


RULES = {
    "stands": {"measure": "state", "comparison": "in", "states": ["STOP", "STALL"], "threshold": None},
    "behind": {"measure": "state", "comparison": "in", "states": ["WARN"], "threshold": None},
    "lag": {"measure": "lag_messages", "comparison": "above", "threshold": 1000},
    "waits": {"measure": "time_lag_seconds", "comparison": "above", "threshold": 600},
    "late": {"measure": "judgement_age_seconds", "comparison": "above", "threshold": 300},
}
# Of each minute, beside the truth: the state that is shown of each group, with ~ where it is stale, and what fires.
# The newest evaluation is of minute 0; it is late from 270 s on. At minute 13 there is one again.
STORY = """
         audit | billing         | inventory      | mail         | search                  | site
 0       OK    | OK              | STALL          | OK           | WARN                    |
 1       OK    | OK              | STALL stands   | OK           | WARN behind lag waits   |
 2       OK    | OK              | STALL stands   | OK           | WARN behind lag waits   |      billing has no members
 3       OK    | OK              | STALL stands   | OK           | WARN behind lag waits   |      mail does not move
 4       OK    | OK              | STALL stands   | OK           | WARN behind lag waits   |
 5       OK~   | STOP stands     | STALL~ stands  | UNKNOWN      | WARN~ behind lag waits  |
 6       OK~   | STOP stands     | UNKNOWN stands | UNKNOWN      | WARN~ behind lag waits  | late inventory moves
 7       OK~   | STOP stands     | UNKNOWN stands | UNKNOWN      | WARN~ behind lag waits  | late
 8       OK~   | STOP lag stands | OK stands      | UNKNOWN      | WARN~ behind lag waits  | late inventory is level
 9       OK~   | STOP lag stands | OK             | UNKNOWN lag  | WARN~ behind lag waits  | late
10       OK~   | STOP lag stands | OK             | UNKNOWN lag  | WARN~ behind lag waits  | late
11       OK~   | OK~ lag stands  | OK             | UNKNOWN lag  | WARN~ behind lag waits  | late billing is back, level
12       OK~   | OK~             | OK             | UNKNOWN lag  | WARN~ behind lag waits  | late
13       OK    | OK              | OK             | STALL lag    | WARN behind lag waits   | late evaluated again
14       OK    | OK              | OK             | STALL lag stands waits | WARN behind lag waits |
"""
AGAIN = {"audit": "OK", "billing": "OK", "inventory": "OK", "mail": "STALL", "search": "WARN"}


@pytest.fixture
def recorder():
    AlertRule.objects.all().delete()
    for name, fields in RULES.items():
        a_rule(name, **{"for_seconds": 60, "clear_seconds": 60, "severity": "critical", **fields})
    return Recorder.of(Cluster.objects.create(name="prod", namesrv="127.0.0.1:9876", created_at=T0))


def shown(now):
    return {
        found.group: f"{found.state}{'~' if found.stale else ''}" for found in group_list(GroupFilters(), now=now).rows
    }


def in_rest(api):
    rows = api.get("/api/v1/groups/?fields=group,state,stale").json()["results"]
    return {one["group"]: f"{one['state']}{'~' if one['stale'] else ''}" for one in rows}


def in_metrics(now):
    families = {family.name: list(family.samples) for family in scrape(now).families if "_group_state" in family.name}
    stale = {label(labels, "group") for labels, _ in families["consumerscope_group_state_age_seconds"]}
    states = families["consumerscope_group_state"]
    return {
        label(labels, "group"): label(labels, "state") + ("~" if label(labels, "group") in stale else "")
        for labels, _ in states
    }


def label(labels, name):
    found = re.search(rf'{name}="([^"]*)"', labels)
    return found[1] if found else ""


def firing():
    found = {}
    for incident in Incident.objects.filter(status="firing").order_by("rule__name"):
        found.setdefault(incident.group_name or "site", []).append(incident.rule_name)
    return found


@pytest.fixture
def story(recorder, api, admin_client):
    """What was said each minute, and what the Overview said."""
    lines, pages = [], []
    for minute in range(15):
        for seconds in range(minute * MINUTE, (minute + 1) * MINUTE, POLL):
            poll(recorder, seconds)
            if seconds != minute * MINUTE:
                continue
            if minute in (0, 13):
                evaluate_once(seconds, AGAIN if minute else EVALUATED)
            elif minute < 13:
                a_run_that_failed(seconds)
            now = at(seconds)
            evaluate(now, lambda now=now: now)
            lines.append(said(minute, now, api))
            with time_machine.travel(now, tick=False):
                pages.append(text_of(admin_client.get("/").text))
    return lines, pages


def a_run_that_failed(seconds):
    PipelineRun.objects.create(
        since=at(0), until=at(seconds), started_at=at(seconds), finished_at=at(seconds + 9), error=OUT_OF_MEMORY
    )


def said(minute, now, api):
    with time_machine.travel(now, tick=False):
        states = shown(now)
        assert in_rest(api) == states
        assert in_metrics(now) == states
    worst = {one.row.group for one in overview(since=T0, until=now, now=now).worst}
    assert worst == {name for name, state in states.items() if not state.startswith(("OK", "UNKNOWN"))}
    fires = firing()
    return [" ".join([states[name], *fires.get(name, [])]) for name in EVALUATED] + fires.get("site", [])


def text_of(html):
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html)))


def test_a_late_pipeline_blinds_nobody(story):
    lines, pages = story
    expected = [[" ".join(cell.split()) for cell in line[9:].split("|")] for line in STORY.strip("\n").splitlines()[1:]]
    # Behind the last column stands the truth.
    expected = [[*cells[:5], *cells[5].split()[:1]] if "late" in cells[5] else cells[:5] for cells in expected]
    assert lines == expected

    for minute, page in enumerate(pages):
        is_late = 5 <= minute <= 12
        assert ("Evaluation is late : last evaluated at 02:00:00 UTC" in page) is is_late, minute
        assert (OUT_OF_MEMORY in page) is is_late
        assert "No group that is known needs attention" not in page
        assert "Py4J" not in page
    assert "WARN as of 02:00:00 ( 8 min ago )" in pages[8]

    ended = Incident.objects.filter(resolved_at__isnull=False).order_by("resolved_at", "group_name", "rule_name")
    assert [(one.group_name, one.rule_name, one.ending, one.resolved_at) for one in ended] == [
        ("inventory", "stands", "recovered", at(9 * MINUTE)),
        ("billing", "lag", "recovered", at(12 * MINUTE)),
        ("billing", "stands", "recovered", at(12 * MINUTE)),
        ("", "late", "recovered", at(14 * MINUTE)),
    ]
