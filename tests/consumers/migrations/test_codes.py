"""What an earlier version stored as sentences becomes codes."""

from importlib import import_module

import pytest
from django.apps import apps

from consumers.models import GroupState, GroupTotal, GroupWindow, QueueSnapshot, QueueState, Rebalance, StateChange
from consumers.vocabulary.rules import RuleCode
from consumers.vocabulary.unknown import UnknownReason
from tests.rebalance_rows import a_rebalance
from tests.world import a_cluster, a_group, a_judged_group, a_judged_queue, a_queue, a_snapshot, a_total, ago

pytestmark = pytest.mark.django_db
migration = import_module("consumers.migrations.0005_codes")


@pytest.fixture
def group():
    return a_group(a_cluster(), "billing")


def test_rules_of_states_and_changes_become_codes(group):
    a_judged_queue(group, a_queue(group.cluster), rule="falling behind")
    a_judged_group(group, rule="within the allowance a moment ago")
    StateChange.objects.create(group=group, at=ago(60), after="REWIND", rule="offset went back")
    migration.to_codes(apps, None)
    assert QueueState.objects.get().rule == RuleCode.FALLING_BEHIND
    assert GroupState.objects.get().rule == RuleCode.WITHIN_THRESHOLD_BEFORE
    assert StateChange.objects.get().rule == RuleCode.OFFSET_WENT_BACK


def test_reasons_of_queues_sums_and_windows_become_codes(group):
    a_snapshot(group, a_queue(group.cluster), None, 9, unknown_reason="never committed")
    a_total(group, None, unknown_reason="no offset of this group is on any broker")
    GroupWindow.objects.create(group=group, step_seconds=60, start=ago(60), readings=0, unknown_reason="not read")
    migration.to_codes(apps, None)
    assert QueueSnapshot.objects.get().unknown_reason == UnknownReason.NEVER_COMMITTED
    assert GroupTotal.objects.get().unknown_reason == UnknownReason.NO_OFFSETS
    assert GroupWindow.objects.get().unknown_reason == UnknownReason.NOT_READ


def test_causes_of_rebalances_become_codes_wherever_they_stand(group):
    evidence = [{"cause": "queue count", "topic": "Orders"}, {"cause": "joined"}]
    a_rebalance(group, cause="queue count, joined", evidence=evidence)
    migration.to_codes(apps, None)
    row = Rebalance.objects.get()
    assert (row.cause, [one["cause"] for one in row.evidence]) == ("queue_count, joined", ["queue_count", "joined"])


def test_a_text_that_is_not_known_stays(group):
    a_judged_group(group, rule="some earlier rule")
    migration.to_codes(apps, None)
    assert GroupState.objects.get().rule == "some earlier rule"


def test_the_way_back_writes_the_texts_again(group):
    a_judged_group(group, rule="behind, draining")
    migration.to_codes(apps, None)
    migration.to_texts(apps, None)
    assert GroupState.objects.get().rule == "behind, draining"


def test_every_rule_had_a_text():
    assert set(migration.RULES.values()) | {RuleCode.BLOCKED} == set(RuleCode)
