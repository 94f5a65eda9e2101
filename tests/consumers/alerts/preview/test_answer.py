"""What a preview says of stored windows, from whichever place they are kept at."""

import pytest

from consumers.lake.store import Lake
from consumers.vocabulary.states import UnknownReason
from tests import pipeline_rows
from tests.alert_rows import a_rule, an_incident
from tests.preview_rows import HOUR, LAG, a_rule_of, asked, seconds_ago, told, windows
from tests.world import a_broker, a_cluster, a_group, a_queue, a_snapshot, ago

pytestmark = pytest.mark.django_db


def test_it_counts_what_would_have_fired(tmp_path):
    cluster = a_cluster()
    windows(a_group(cluster, "billing"), [0] * 30 + [500] * 10 + [0] * 10 + [700, 900, 800] + [0] * 7)
    windows(a_group(cluster, "audit"), [0] * 59 + [500])
    windows(a_group(cluster, "calm"), [99] * 60)
    result = asked(tmp_path, a_rule_of(**LAG))
    # A window's value is that of its end: the first of the ten ends 29 min ago.
    assert told(result) == [("billing", 1740, 1620, 1080), ("billing", 540, 420, 300)]
    assert [one["worst_value"] for one in result["incidents"]] == [900, 500]
    assert (result["fired"], result["subjects"], result["unknown_share"], result["step_seconds"]) == (2, 3, 0, 60)
    assert [(one["subject"]["group"], one["fired"]) for one in result["by_subject"]] == [("billing", 2)]
    assert result["per_day"] == [
        {"day": "2026-03-14", "fired": 2, "fired_excluded": 0, "unknown_share": 0, "unknown": {}}
    ]
    assert result["unknown"] == {"evaluated": "no saved rule has this name"}


def test_what_is_not_known_is_said_and_neither_fires_nor_resolves(tmp_path):
    cluster = a_cluster()
    windows(a_group(cluster, "billing"), [500] * 5 + [None] * 20 + ["gap"] * 20 + [0] * 15)
    a_group(cluster, "never")
    result = asked(tmp_path, a_rule_of(**LAG))
    assert told(result) == [("billing", 3540, 3420, 780)]
    assert (result["unknown_subjects"], result["unknown_share"]) == (1, pytest.approx(100 / 120))
    assert (result["known_seconds"], result["unknown_share_in_data"]) == (1200, pytest.approx(20 / 40))
    (of_billing,) = result["by_subject"]
    assert [tuple(map(seconds_ago, span.values())) for span in of_billing["unknown_spans"]] == [(3300, 900)]
    assert [day["unknown_share"] for day in result["per_day"]] == [pytest.approx(100 / 120)]


def test_a_group_is_missed_only_since_it_was_first_seen(tmp_path):
    cluster = a_cluster()
    windows(a_group(cluster, "first"), [0] * 60)
    windows(a_group(cluster, "billing", first_seen_at=ago(600)), [0] * 10)
    assert asked(tmp_path, a_rule_of(**LAG))["unknown_share"] == 0


@pytest.mark.parametrize("lag", [0, 500])
def test_what_was_before_a_cluster_was_first_read_is_not_known(tmp_path, lag):
    windows(a_group(a_cluster(), "billing", first_seen_at=ago(600)), [lag] * 10)
    result = asked(tmp_path, a_rule_of(**LAG))
    assert (seconds_ago(result["known_from"]), seconds_ago(result["known_to"])) == (600, 0)
    assert (result["known_seconds"], result["unknown_seconds"]) == (600, 3000)
    assert [tuple(map(seconds_ago, span.values())) for span in result["unknown_spans"]] == [(3600, 600)]
    assert (result["unknown_share"], result["unknown_share_in_data"]) == (pytest.approx(50 / 60), 0)


def test_it_looks_at_those_that_the_rule_selects_by_their_own_terms(tmp_path):
    cluster = a_cluster()
    for name in ("billing", "bill-2", "audit", "bill-off"):
        windows(a_group(cluster, name), [500] * 60)
    own = [{"group_pattern": "bill-2", "threshold": 1000.0}, {"group_pattern": "bill-off", "enabled": False}]
    result = asked(tmp_path, a_rule_of(**LAG, group_pattern="bill*", overrides=own))
    assert told(result) == [("billing", 3540, 3420, None)]
    assert result["incidents"][0]["unknown"] == {"to": "still firing at the end of the range"}
    assert result["subjects"] == 2


def test_between_two_thresholds_it_is_not_over(tmp_path):
    windows(a_group(a_cluster(), "billing"), [0] * 40 + [500] * 3 + [80] * 10 + [20] * 7)
    result = asked(tmp_path, a_rule_of(**LAG, clear_threshold=50.0))
    assert told(result) == [("billing", 1140, 1020, 300)]


def test_a_rule_that_looks_for_too_little_fires_of_a_group_that_always_has(tmp_path):
    cluster = a_cluster()
    windows(a_group(cluster, "billing"), [5] * 60)
    windows(a_group(cluster, "audit"), [500] * 60)
    result = asked(tmp_path, a_rule_of(**(LAG | {"comparison": "below"})))
    assert told(result) == [("billing", 3540, 3420, None)]
    assert result["incidents"][0]["worst_value"] == 5


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
        ("unknown_seconds", 120, {"lag_messages": None, "unknown_reason": UnknownReason.BROKER_UNREAD}, 0, None),
    ],
)
def test_it_makes_each_measure_of_windows(tmp_path, measure, threshold, fields, fired, worst):
    windows(a_group(a_cluster(), "billing"), [4] * 120, field="readings", **fields)
    rule = a_rule_of(measure=measure, comparison="above", threshold=float(threshold))
    result = asked(tmp_path, rule, seconds=2 * HOUR)
    assert result["fired"] == fired
    assert [one["worst_value"] for one in result["incidents"]] == ([pytest.approx(worst)] if fired else [])


def test_time_that_a_broker_explained_is_not_counted(tmp_path):
    group = a_group(a_cluster(), "billing")
    windows(group, [None] * 60, unknown_reason="ahead")
    group.windows.filter(start__lt=ago(1800)).update(unknown_reason=UnknownReason.BROKER_UNREAD)
    result = asked(tmp_path, a_rule_of(measure="unknown_seconds", comparison="above", threshold=120.0))
    assert [one["worst_value"] for one in result["incidents"]] == [1800]


def test_what_does_not_drain_is_not_known(tmp_path):
    behind = {"lag_messages": 1000, "consume_rate": 2.0, "produce_rate": 4.0}
    windows(a_group(a_cluster(), "billing"), [4] * 60, field="readings", **behind)
    result = asked(tmp_path, a_rule_of(measure="drain_seconds", comparison="above", threshold=1.0))
    assert (result["fired"], result["unknown_share"]) == (0, 1)


def test_a_long_past_is_looked_at_every_ten_minutes(tmp_path):
    windows(a_group(a_cluster(), "billing", first_seen_at=ago(30 * 86400)), [500] * 6, step=600)
    result = asked(tmp_path, a_rule_of(**LAG), seconds=20 * 86400)
    assert (result["step_seconds"], told(result)) == (600, [("billing", 3000, 2400, None)])
    assert result["unknown_share"] == pytest.approx(1 - 6 / 2880)


def test_a_topic_is_summed_over_its_queues(tmp_path):
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
    windows(group, ["gap"] * 10 + [1020, None, 1020], unknown_reason="broker_unread")
    result = asked(tmp_path, a_rule_of(**LAG, topic="Orders"), seconds=1800)
    assert told(result) == [("billing on Orders", 1740, 1620, None)]
    assert result["incidents"][0]["worst_value"] == 120
    assert (result["subjects"], result["unknown_share"]) == (1, pytest.approx(3 / 30))


def test_nothing_selected_is_nothing_to_look_at(tmp_path):
    a_cluster()
    result = asked(tmp_path, a_rule_of(**LAG, group_pattern="nobody"))
    assert (result["fired"], result["subjects"], result["unknown_share"]) == (0, 0, None)
    assert result["unknown"]["unknown_share"] == "no subjects in the selection"


def test_a_group_that_has_no_lag_by_what_it_is_lacks_nothing(tmp_path):
    windows(a_group(a_cluster(), "billing"), [None] * 60, unknown_reason="never_committed")
    result = asked(tmp_path, a_rule_of(measure="unknown_seconds", comparison="above", threshold=120.0))
    assert (result["fired"], result["unknown_share"]) == (0, 0)


def test_what_it_finds_of_groups_that_are_left_alone_is_counted_apart(tmp_path):
    cluster = a_cluster()
    windows(a_group(cluster, "billing"), [500] * 60)
    windows(a_group(cluster, "paused", consume_enable=False), [0] * 40 + [500] * 5 + [0] * 5 + [500] * 10)
    result = asked(tmp_path, a_rule_of(**LAG))
    assert (result["fired"], result["fired_excluded"]) == (3, 2)
    reason = "paused by configuration: consumeEnable is false"
    assert {one["subject"]["group"]: one.get("excluded") for one in result["incidents"]} == {
        "billing": None,
        "paused": reason,
    }
    assert [one.get("excluded") for one in result["by_subject"]] == [reason, None]


@pytest.mark.parametrize(
    ("hours", "lag", "time_lag", "worst", "unknown"),
    [
        ((72, 72), 500, 70 * 3600.0, 2 * 3600, 0),
        ((72, 72), 500, 80 * 3600.0, 0, 0),
        ((72, 72), 500, None, None, 1),
        ((72, 48), 500, 70 * 3600.0, None, 1),
        ((72, None), 0, 0.0, None, 1),
        ((72, 2), 0, 0.0, 2 * 3600, 0),
    ],
)
def test_what_expires_is_told_by_how_long_brokers_keep_it(tmp_path, hours, lag, time_lag, worst, unknown):
    cluster = a_cluster()
    for number, kept in enumerate(hours):
        a_broker(cluster, f"broker-{number}", file_reserved_hours=kept)
    windows(a_group(cluster), [lag] * 60, time_lag_seconds=time_lag)
    rule = a_rule_of(measure="expires_in_seconds", comparison="below", threshold=4.0 * HOUR)
    result = asked(tmp_path, rule)
    assert ([one["worst_value"] for one in result["incidents"]], result["unknown_share"]) == (
        [] if worst is None else [worst],
        unknown,
    )


def test_members_are_those_of_the_last_whole_answer(tmp_path):
    """An answer every minute: none for ten of them, one that is not whole, and then nobody asks for half an hour."""
    group = a_group(a_cluster())
    place = {"cluster": "prod", "group": group.name, "consume_type": "CONSUME_PASSIVELY"}
    counted = dict.fromkeys(range(60, 29, -1), 2) | dict.fromkeys(range(50, 40, -1), 0) | {45: None}
    found = [
        {**place, "taken_at": ago(60 * minute), "complete": members is not None, "members": members}
        for minute, members in counted.items()
    ]
    pipeline_rows.put(Lake.at(str(tmp_path)), "membership", found)
    rule = a_rule_of(measure="members", comparison="below", threshold=1.0, for_seconds=120.0)
    result = asked(tmp_path, rule)
    # Over a minute after it was seen first that members are back.
    assert told(result) == [(group.name, 3000, 2880, 2340)]
    # The answer of 30 min ago holds for 15 min; the one at 45 is not known.
    assert result["unknown_share"] == pytest.approx((16 + 1) / 60)


def test_what_evaluations_found_stands_beside_it(tmp_path):
    group = a_group(a_cluster(), "billing")
    windows(group, [0] * 30 + [500] * 10 + [0] * 20)
    kept = a_rule("Behind", changed_at=ago(30 * 86_400), clear_seconds=60.0, **LAG)
    over = {"status": "resolved", "resolved_at": ago(1070), "ending": "recovered"}
    same = an_incident(kept, group, fired_at=ago(1610), **over)
    result = asked(tmp_path, a_rule_of(**LAG))
    found = result["evaluated"]
    assert (found["rule"], found["fired"], found["only_replayed"], found["only_evaluated"]) == (kept.pk, 1, 0, 0)
    assert (found["reasons"], [one["id"] for one in found["incidents"]]) == ([], [str(same.pk)])
