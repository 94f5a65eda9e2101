"""What a preview says of what holds from one judgement, or one reading, to the next."""

from dataclasses import replace
from datetime import timedelta

import pytest

from consumers.models import Rebalance, StateChange
from tests.preview_rows import HOUR, KEPT, a_rule_of, asked, judged, members_told, seconds_ago, told
from tests.rebalance_rows import read_every
from tests.reset_rows import a_reset, a_reset_queue
from tests.world import a_broker, a_cluster, a_group, a_judged_group, a_reading, ago

pytestmark = pytest.mark.django_db


def test_a_state_stays_through_a_pause_of_judgements(tmp_path):
    group = a_group(a_cluster(), "billing")
    a_judged_group(group, "OK")
    StateChange.objects.create(group=group, at=ago(3000), before="OK", after="STALL", rule="blocked")
    StateChange.objects.create(group=group, at=ago(600), before="STALL", after="OK", rule="lagging")
    judged(*range(30, 1800, 30), *range(2400, 3900, 30))
    rule = a_rule_of(measure="state", comparison="in", states=["STALL", "STOP"], for_seconds=300.0)
    result = asked(tmp_path, rule)
    assert told(result) == [("billing", 3000, 2700, 540)]
    assert result["incidents"][0]["unknown"] == {"worst_value": "states are compared"}
    # Pages and rules keep the last state, too.
    assert result["unknown_share"] == 0


def test_a_group_whose_state_did_not_change_was_in_it_all_the_time(tmp_path):
    a_judged_group(a_group(a_cluster(), "billing"), "STOP")
    judged(*range(0, 3900, 30))
    rule = a_rule_of(measure="state", comparison="in", states=["STOP"])
    assert told(asked(tmp_path, rule)) == [("billing", 3540, 3540, None)]


def test_rebalances_count_by_episodes_of_an_hour(tmp_path):
    cluster = a_cluster()
    group = a_group(cluster, "billing")
    members_told(tmp_path, group, a_group(cluster, "calm"))
    for began, episode in ((3300, 3300), (2400, 2400), (2380, 2400), (1200, 1200)):
        times = {"started_before": ago(began), "last_change_at": ago(began), "judged_at": ago(began)}
        Rebalance.objects.create(group=group, polls=2, cause="joined", episode_since=ago(episode), **times)
    judged(*range(0, 7500, 30))
    read_every(60, cluster, 7500)
    rule = a_rule_of(measure="rebalance_episodes_hour", comparison="above", threshold=2.0)
    result = asked(tmp_path, rule)
    assert (told(result), result["unknown_share"]) == ([("billing", 1200, 1200, None)], 0)
    assert result["incidents"][0]["worst_value"] == 3


@pytest.mark.parametrize("measure", ["rebalance_episodes_hour", "repeat_events_hour", "redelivered_messages_hour"])
def test_while_nobody_tells_the_members_there_is_no_zero(tmp_path, measure):
    """For an hour and more; before that they were told."""
    group = a_group(a_cluster(), "billing")
    members_told(tmp_path, group, members=None)
    judged(*range(0, 7500, 30))
    result = asked(tmp_path, a_rule_of(measure=measure, comparison="above", threshold=0.0))
    assert (result["fired"], result["unknown_share"]) == (0, 1)


def test_where_no_cluster_is_scraped_the_site_would_have_fired_and_the_cluster_is_unknown(tmp_path):
    cluster = a_cluster(read_at=None)
    for age in (*range(0, 1200, 30), *range(2400, 3900, 30)):
        a_reading(cluster, ago(age))
    result = asked(tmp_path, a_rule_of(measure="reading_age_seconds", comparison="above", threshold=120.0))
    assert told(result) == [("Consumerscope", 2400, 2220, 1080)]
    assert result["unknown_share"] > 0


def test_lost_offsets_leave_the_state_unknown_to_rules_of_groups(tmp_path):
    """They are the incident of their broker; a state that goes on from before the range is told by its own change."""
    cluster = a_cluster()
    for name, rule in (("lost", "offset_lost"), ("expired", "messages_expired")):
        group = a_group(cluster, name)
        a_judged_group(group, "OK")
        StateChange.objects.create(group=group, at=ago(7200), before="OK", after="LOSS", rule=rule)
        StateChange.objects.create(group=group, at=ago(1800), before="LOSS", after="OK", rule="lagging")
    a_judged_group(a_group(cluster, "losing"), "LOSS", rule="offset_lost")
    again = a_group(cluster, "again")
    a_judged_group(again, "LOSS", rule="offset_lost")
    StateChange.objects.create(group=again, at=ago(900), before="OK", after="LOSS", rule="offset_lost")
    judged(*range(0, 7500, 30))
    result = asked(tmp_path, a_rule_of(measure="state", comparison="in", states=["LOSS"]))
    assert told(result) == [("expired", 3540, 3540, 1740)]


@pytest.mark.parametrize(("measure", "of"), [("broker_unread_seconds", "broker-a"), ("reading_age_seconds", "prod")])
def test_ages_count_from_the_last_that_was_well(tmp_path, measure, of):
    """Of a cluster that is scraped beside another one, which is scraped all the time."""
    cluster, other = a_cluster(read_at=None), a_cluster("test", read_at=None)
    a_broker(cluster, "broker-a")
    read_every(30, other, 3900)
    for age in (*range(0, 1200, 30), *range(2400, 3900, 30)):
        a_reading(cluster, ago(age), brokers=[{"name": "broker-a", "read": True, "error": None}])
    if measure == "broker_unread_seconds":
        for age in range(1200, 2400, 30):
            a_reading(cluster, ago(age), brokers=[{"name": "broker-a", "read": False, "error": "refused"}])
    rule = a_rule_of(measure=measure, comparison="above", threshold=120.0)
    result = asked(tmp_path, rule)
    assert told(result) == [(of, 2400, 2220, 1080)]
    assert (result["incidents"][0]["worst_value"], result["unknown_share"]) == (1200, 0)


@pytest.mark.parametrize(("for_seconds", "fired"), [(0.0, 2040), (120.0, 1980)])
def test_the_age_of_judgements_is_of_the_site_and_passes_from_the_threshold_on(tmp_path, for_seconds, fired):
    judged(*range(2400, 3900, 30))
    rule = a_rule_of(measure="judgement_age_seconds", comparison="above", threshold=300.0, for_seconds=for_seconds)
    assert told(asked(tmp_path, rule)) == [("Consumerscope", 2400, fired, None)]


def test_a_broker_that_nobody_asks_is_not_known(tmp_path):
    cluster = a_cluster(read_at=None)
    a_broker(cluster, "broker-a")
    for age in range(1800, 3900, 30):
        a_reading(cluster, ago(age), brokers=[{"name": "broker-a", "read": True, "error": None}])
    rule = a_rule_of(measure="broker_unread_seconds", comparison="above", threshold=120.0)
    result = asked(tmp_path, rule)
    assert (result["fired"], result["unknown_share"]) == (0, pytest.approx(0.5, abs=0.02))


def test_a_stall_counts_from_when_the_offset_stood(tmp_path):
    group = a_group(a_cluster(), "billing")
    a_judged_group(group, "OK")
    StateChange.objects.create(
        group=group, at=ago(3000), before="OK", after="STALL", rule="blocked", detail={"still_seconds": 180.0}
    )
    StateChange.objects.create(group=group, at=ago(2820), before="STALL", after="OK", rule="lagging")
    judged(*range(0, 3900, 30))
    rule = a_rule_of(measure="state", comparison="in", states=["STALL"], for_seconds=300.0)
    assert told(asked(tmp_path, rule)) == [("billing", 3180, 2880, 2760)]


def test_a_state_that_a_reset_from_here_led_to_is_left_alone(tmp_path):
    group = a_group(a_cluster(), "billing")
    a_judged_group(group, "OK")
    detail = {"topic": "Orders", "broker": "broker-a", "queue_id": 0}
    for at in (3000, 1800):
        change = {"before": "OK", "after": "REWIND", "rule": "offset_went_back", "detail": detail}
        StateChange.objects.create(group=group, at=ago(at), **change)
        StateChange.objects.create(group=group, at=ago(at - 300), before="REWIND", after="OK", rule="lagging")
    a_reset_queue(a_reset(group, status="applied"), before=900, target=100, written_at=ago(3015), outcome="CONFIRMED")
    judged(*range(0, 3900, 30))
    result = asked(tmp_path, a_rule_of(measure="state", comparison="in", states=["REWIND"]))
    assert (told(result), result["unknown_share"]) == ([("billing", 1800, 1800, 1440)], 0)


@pytest.mark.parametrize(
    ("measure", "fired"), [("broker_unread_seconds", 1), ("name_server_unread_seconds", 1), ("reading_age_seconds", 0)]
)
def test_what_is_as_old_as_it_is_set_to_be_is_no_trouble(tmp_path, measure, fired):
    """Read every ten minutes; once the broker and the name servers did not answer."""
    cluster = a_cluster(read_at=None)
    a_broker(cluster, "broker-a")
    for age in range(0, 7800, 600):
        error = "refused" if age == 3600 else None
        brokers = [{"name": "broker-a", "read": error is None, "error": error and "silent"}]
        a_reading(cluster, ago(age), brokers=brokers, error=error)
    kept = replace(KEPT, reading=timedelta(seconds=1800))
    rule = a_rule_of(measure=measure, comparison="above", threshold=120.0)
    result = asked(tmp_path, rule, seconds=2 * HOUR, kept=kept)
    assert result["fired"] == fired
    assert [seconds_ago(one["fired_at"]) for one in result["incidents"]] == [3600] * fired
