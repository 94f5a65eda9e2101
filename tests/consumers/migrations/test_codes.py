"""What an earlier version stored as sentences becomes codes."""

from importlib import import_module

import pytest
from django.apps import apps

from consumers.models import GroupState, QueueState, StateChange
from consumers.vocabulary.rules import RuleCode
from tests.world import a_cluster, a_group, a_judged_group, a_judged_queue, a_queue, ago

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
