"""What a preview says of stored history, from whichever place it is kept at."""

from datetime import datetime, timedelta

import pytest

from consumers.alerts.preview.run import answer
from consumers.alerts.preview.values import Kept
from consumers.lake.store import Lake
from consumers.models import GroupWindow, PipelineRun, Rebalance, StateChange
from consumers.pipeline.frames import Frames
from consumers.pipeline.group_windows import NOT_READ
from tests import pipeline_rows
from tests.alert_rows import a_preview
from tests.world import NOW, a_broker, a_cluster, a_group, a_judged_group, a_queue, a_reading, a_snapshot, ago

pytestmark = [pytest.mark.spark, pytest.mark.django_db]

HOUR = 3600
DAYS = {"readings": 2, "windows_60": 7, "windows_600": 90}
KEPT = Kept({name: timedelta(days=days) for name, days in DAYS.items()}, timedelta(seconds=270), timedelta(seconds=45))
LAG = {"measure": "lag_messages", "comparison": "above", "threshold": 100.0, "for_seconds": 120.0}


def a_rule_of(**said):
    return {"name": "Behind", "severity": "warning", "clear_seconds": 60.0, **said}


def asked(spark, tmp_path, rule, *, seconds=HOUR, until=NOW):
    frames = Frames(spark, Lake.at(str(tmp_path)), ["prod"])
    return answer(frames, a_preview(rule=rule, since=until - timedelta(seconds=seconds), until=until), KEPT, NOW)


def windows(group, values, *, step=60, field="lag_messages", **fields):
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


def told(result):
    """Subject, and seconds before now of the begin, the firing and the end of each incident, the oldest first."""
    names = ("from", "fired_at", "to")
    moments = [[one[name] and seconds_ago(one[name]) for name in names] for one in result["incidents"]]
    return [
        (one["subject"]["title"], *moment)
        for one, moment in zip(reversed(result["incidents"]), reversed(moments), strict=True)
    ]


def seconds_ago(text):
    return (NOW - datetime.fromisoformat(text)).total_seconds()


def test_it_counts_what_would_have_fired(spark, tmp_path):
    cluster = a_cluster()
    windows(a_group(cluster, "billing"), [0] * 30 + [500] * 10 + [0] * 10 + [700, 900, 800] + [0] * 7)
    windows(a_group(cluster, "audit"), [0] * 59 + [500])
    windows(a_group(cluster, "calm"), [99] * 60)
    result = asked(spark, tmp_path, a_rule_of(**LAG))
    # A window's value is that of its end: the first of the ten ends 29 min ago.
    assert told(result) == [("billing", 1740, 1620, 1080), ("billing", 540, 420, 300)]
    assert [one["worst_value"] for one in result["incidents"]] == [900, 500]
    assert (result["fired"], result["subjects"], result["unknown_share"], result["step_seconds"]) == (2, 3, 0, 60)
    assert [(one["subject"]["group"], one["fired"]) for one in result["by_subject"]] == [("billing", 2)]
    assert result["per_day"] == [{"day": "2026-03-14", "fired": 2}]


def test_what_is_not_known_is_said_and_neither_fires_nor_resolves(spark, tmp_path):
    cluster = a_cluster()
    windows(a_group(cluster, "billing"), [500] * 5 + [None] * 20 + ["gap"] * 20 + [0] * 15)
    a_group(cluster, "never")
    result = asked(spark, tmp_path, a_rule_of(**LAG))
    assert told(result) == [("billing", 3540, 3420, 780)]
    assert (result["unknown_subjects"], result["unknown_share"]) == (1, pytest.approx(100 / 120))


def test_a_group_is_missed_only_since_it_was_first_seen(spark, tmp_path):
    windows(a_group(a_cluster(), "billing", first_seen_at=ago(600)), [0] * 10)
    assert asked(spark, tmp_path, a_rule_of(**LAG))["unknown_share"] == 0


def test_it_looks_at_those_that_the_rule_selects_by_their_own_terms(spark, tmp_path):
    cluster = a_cluster()
    for name in ("billing", "bill-2", "audit", "bill-off"):
        windows(a_group(cluster, name), [500] * 60)
    own = [{"group_pattern": "bill-2", "threshold": 1000.0}, {"group_pattern": "bill-off", "enabled": False}]
    result = asked(spark, tmp_path, a_rule_of(**LAG, group_pattern="bill*", overrides=own))
    assert told(result) == [("billing", 3540, 3420, None)]
    assert result["incidents"][0]["unknown"] == {"to": "it fires still at the end of the range"}
    assert result["subjects"] == 2


def test_between_two_thresholds_it_is_not_over(spark, tmp_path):
    windows(a_group(a_cluster(), "billing"), [0] * 40 + [500] * 3 + [80] * 10 + [20] * 7)
    result = asked(spark, tmp_path, a_rule_of(**LAG, clear_threshold=50.0))
    assert told(result) == [("billing", 1140, 1020, 300)]


@pytest.mark.parametrize(
    ("measure", "threshold", "fields", "fired", "worst"),
    [
        ("time_lag_seconds", 300, {"time_lag_seconds": 400.0}, 1, 400),
        ("drain_seconds", 300, {"lag_messages": 1000, "consume_rate": 4.0, "produce_rate": 2.0}, 1, 500),
        ("drain_seconds", 300, {"lag_messages": 0, "consume_rate": 4.0, "produce_rate": 4.0}, 0, None),
        ("retry_share", 0.1, {"into_retry": 2, "consumed": 10}, 1, 0.2),
        ("dlq_inflow_messages", 10, {"into_dlq": 3}, 1, 15),
        ("dlq_inflow_messages", 10, {"into_dlq": 2}, 0, None),
        ("unknown_seconds", 120, {"lag_messages": None, "unknown_reason": "ahead"}, 1, 7140),
        ("unknown_seconds", 120, {"lag_messages": None, "unknown_reason": NOT_READ}, 0, None),
    ],
)
def test_it_makes_each_measure_of_windows(spark, tmp_path, measure, threshold, fields, fired, worst):
    windows(a_group(a_cluster(), "billing"), [4] * 120, field="readings", **fields)
    rule = a_rule_of(measure=measure, comparison="above", threshold=float(threshold))
    result = asked(spark, tmp_path, rule, seconds=2 * HOUR)
    assert result["fired"] == fired
    assert [one["worst_value"] for one in result["incidents"]] == ([pytest.approx(worst)] if fired else [])


def test_what_does_not_drain_is_not_known(spark, tmp_path):
    behind = {"lag_messages": 1000, "consume_rate": 2.0, "produce_rate": 4.0}
    windows(a_group(a_cluster(), "billing"), [4] * 60, field="readings", **behind)
    result = asked(spark, tmp_path, a_rule_of(measure="drain_seconds", comparison="above", threshold=1.0))
    assert (result["fired"], result["unknown_share"]) == (0, 1)


def test_a_long_past_is_looked_at_every_ten_minutes(spark, tmp_path):
    windows(a_group(a_cluster(), "billing", first_seen_at=ago(30 * 86400)), [500] * 6, step=600)
    result = asked(spark, tmp_path, a_rule_of(**LAG), seconds=20 * 86400)
    assert (result["step_seconds"], told(result)) == (600, [("billing", 3000, 2400, None)])
    assert "one in 10 minutes" in " ".join(result["notes"])
    assert result["unknown_share"] == pytest.approx(1 - 6 / 2880)


def judged(*ages):
    PipelineRun.objects.bulk_create(
        PipelineRun(since=ago(age + 60), until=ago(age), started_at=ago(age), finished_at=ago(age)) for age in ages
    )


def test_states_are_known_while_judgements_hold(spark, tmp_path):
    group = a_group(a_cluster(), "billing")
    a_judged_group(group, "OK")
    StateChange.objects.create(group=group, at=ago(3000), before="OK", after="STALL", rule="blocked")
    StateChange.objects.create(group=group, at=ago(600), before="STALL", after="OK", rule="keeping up")
    judged(*range(30, 1800, 30), *range(2400, 3900, 30))
    rule = a_rule_of(measure="state", comparison="in", states=["STALL", "STOP"], for_seconds=300.0)
    result = asked(spark, tmp_path, rule)
    assert told(result) == [("billing", 3000, 2700, 540)]
    assert result["incidents"][0]["unknown"] == {"worst_value": "states are compared"}
    # From 270 s after the last judgement before the pause until the next one.
    assert result["unknown_share"] == pytest.approx(6 / 60)


def test_a_group_whose_state_did_not_change_was_in_it_all_the_time(spark, tmp_path):
    a_judged_group(a_group(a_cluster(), "billing"), "STOP")
    judged(*range(0, 3900, 30))
    rule = a_rule_of(measure="state", comparison="in", states=["STOP"])
    assert told(asked(spark, tmp_path, rule)) == [("billing", 3540, 3540, None)]


def test_rebalances_count_by_episodes_of_an_hour(spark, tmp_path):
    cluster = a_cluster()
    group = a_group(cluster, "billing")
    a_group(cluster, "calm")
    for began, episode in ((3300, 3300), (2400, 2400), (2380, 2400), (1200, 1200)):
        times = {"started_before": ago(began), "last_change_at": ago(began), "judged_at": ago(began)}
        Rebalance.objects.create(group=group, polls=2, cause="joined", episode_since=ago(episode), **times)
    judged(*range(0, 7500, 30))
    rule = a_rule_of(measure="rebalance_episodes_hour", comparison="above", threshold=2.0)
    result = asked(spark, tmp_path, rule)
    assert (told(result), result["unknown_share"]) == ([("billing", 1200, 1200, None)], 0)
    assert result["incidents"][0]["worst_value"] == 3


@pytest.mark.parametrize(("measure", "of"), [("broker_unread_seconds", "broker-a"), ("reading_age_seconds", "prod")])
def test_ages_count_from_the_last_that_was_well(spark, tmp_path, measure, of):
    cluster = a_cluster(read_at=None)
    a_broker(cluster, "broker-a")
    for age in (*range(0, 1200, 30), *range(2400, 3900, 30)):
        a_reading(cluster, ago(age), brokers=[{"name": "broker-a", "read": True, "error": None}])
    if measure == "broker_unread_seconds":
        for age in range(1200, 2400, 30):
            a_reading(cluster, ago(age), brokers=[{"name": "broker-a", "read": False, "error": "refused"}])
    rule = a_rule_of(measure=measure, comparison="above", threshold=120.0)
    result = asked(spark, tmp_path, rule)
    assert told(result) == [(of, 2400, 2220, 1080)]
    assert (result["incidents"][0]["worst_value"], result["unknown_share"]) == (1200, 0)


def test_the_age_of_judgements_is_of_the_site(spark, tmp_path):
    judged(*range(2400, 3900, 30))
    rule = a_rule_of(measure="judgement_age_seconds", comparison="above", threshold=300.0)
    assert told(asked(spark, tmp_path, rule)) == [("Consumerscope", 2400, 2040, None)]


def test_a_topic_is_summed_over_its_queues(spark, tmp_path):
    cluster = a_cluster()
    group = a_group(cluster, "billing")
    for queue_id in (0, 1):
        a_snapshot(group, a_queue(cluster, "Orders", queue_id), 0, 0)
    a_snapshot(a_group(cluster, "audit"), a_queue(cluster, "Refunds"), 0, 0)
    place = {"cluster": "prod", "group": "billing", "broker": "broker-a", "kind": "normal", "step_seconds": 60}
    fields = {"time_lag_seconds": 5.0, "time_lag_kind": "exact", "readings": 4}
    found = [
        {**place, **fields, "start": ago(60 * number), "topic": topic, "queue_id": queue_id, "lag_messages": lag}
        for number in range(1, 31)
        for topic, queue_id, lag in (("Orders", 0, 60), ("Orders", 1, 60), ("Refunds", 0, 900))
    ]
    pipeline_rows.put(Lake.at(str(tmp_path)), "windows_60", found, time="start")
    windows(group, ["gap"] * 10 + [1020, None, 1020], unknown_reason="a broker of this group was not read")
    result = asked(spark, tmp_path, a_rule_of(**LAG, topic="Orders"), seconds=1800)
    assert told(result) == [("billing on Orders", 1740, 1620, None)]
    assert result["incidents"][0]["worst_value"] == 120
    assert (result["subjects"], result["unknown_share"]) == (1, pytest.approx(3 / 30))


def test_nothing_selected_is_nothing_to_look_at(spark, tmp_path):
    a_cluster()
    result = asked(spark, tmp_path, a_rule_of(**LAG, group_pattern="nobody"))
    assert (result["fired"], result["subjects"], result["unknown_share"]) == (0, 0, None)
    assert result["unknown"] == {"unknown_share": "there was nothing to look at"}


def test_a_broker_that_nobody_asks_is_not_known(spark, tmp_path):
    cluster = a_cluster(read_at=None)
    a_broker(cluster, "broker-a")
    for age in range(1800, 3900, 30):
        a_reading(cluster, ago(age), brokers=[{"name": "broker-a", "read": True, "error": None}])
    rule = a_rule_of(measure="broker_unread_seconds", comparison="above", threshold=120.0)
    result = asked(spark, tmp_path, rule)
    assert (result["fired"], result["unknown_share"]) == (0, pytest.approx(0.5, abs=0.02))


def test_a_group_that_has_no_lag_by_what_it_is_lacks_nothing(spark, tmp_path):
    windows(a_group(a_cluster(), "billing"), [None] * 60, unknown_reason="never committed")
    result = asked(spark, tmp_path, a_rule_of(measure="unknown_seconds", comparison="above", threshold=120.0))
    assert (result["fired"], result["unknown_share"]) == (0, 0)
