"""Whom a rule, a silence or a channel selects."""

from fnmatch import fnmatchcase

import pytest
from hypothesis import given, strategies as st

from consumers.alerts.measured import SITE, Subject
from consumers.alerts.rule_terms import Selection
from consumers.models import SubjectKind

CLUSTER = Subject(SubjectKind.CLUSTER, cluster="prod")
BROKER = Subject(SubjectKind.BROKER, cluster="prod", broker="broker-a")
GROUP = Subject(SubjectKind.GROUP, cluster="prod", group="billing-eu")
TOPIC = Subject(SubjectKind.TOPIC, cluster="prod", group="billing-eu", topic="Orders")
ALL = (SITE, CLUSTER, BROKER, GROUP, TOPIC)


@pytest.mark.parametrize(
    ("selection", "taken"),
    [
        (Selection(), ALL),
        (Selection(cluster="prod"), (CLUSTER, BROKER, GROUP, TOPIC)),
        (Selection(cluster="pr*"), (CLUSTER, BROKER, GROUP, TOPIC)),
        (Selection(cluster="Prod"), ()),
        (Selection(group_pattern="*"), (GROUP, TOPIC)),
        (Selection(group_pattern="billing-??"), (GROUP, TOPIC)),
        (Selection(group_pattern="Billing*"), ()),
        (Selection(group_pattern="billing"), ()),
        (Selection(topic="Orders"), (TOPIC,)),
        (Selection(cluster="test", group_pattern="billing*"), ()),
        (Selection(labels={"team": "payments"}), ()),
    ],
)
def test_what_is_empty_selects_everything_and_what_is_named_only_what_bears_the_name(
    selection: Selection, taken: tuple[Subject, ...]
) -> None:
    assert tuple(subject for subject in ALL if selection.takes(subject)) == taken


@pytest.mark.parametrize(
    ("borne", "taken"),
    [({"team": "payments", "tier": "1"}, True), ({"team": "payments"}, False), ({"team": "x", "tier": "1"}, False)],
)
def test_all_labels_must_be_borne(borne: dict[str, str], taken: bool) -> None:
    assert Selection(labels={"team": "payments", "tier": "1"}).takes(GROUP, borne) is taken


names = st.text(alphabet="abAB-_%1", min_size=1, max_size=8)
patterns = st.text(alphabet="abAB-_%1*?", max_size=8)


@given(patterns, names)
def test_a_pattern_takes_just_the_names_that_it_fits(pattern: str, name: str) -> None:
    subject = Subject(SubjectKind.GROUP, cluster="prod", group=name)
    assert Selection(group_pattern=pattern).takes(subject) is (pattern == "" or fnmatchcase(name, pattern))


@given(patterns, patterns, names, names)
def test_one_more_condition_never_takes_more(cluster: str, group: str, in_cluster: str, name: str) -> None:
    subject = Subject(SubjectKind.GROUP, cluster=in_cluster, group=name)
    both = Selection(cluster=cluster, group_pattern=group).takes(subject)
    assert both is (Selection(cluster=cluster).takes(subject) and Selection(group_pattern=group).takes(subject))
