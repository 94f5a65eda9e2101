"""How long members have held the same oldest message."""

from datetime import timedelta
from typing import Any

import pytest

from consumers.alerts.evaluation.run import evaluate
from consumers.models import ConsumerGroup, Incident, Measure
from consumers.words.reasons import stored_words
from tests.alert_rows import a_rule
from tests.consumers.alerts.measures.group_rows import column, everything, of_group
from tests.ownership_rows import a_member, it_held
from tests.world import NOW, a_broker, a_cluster, a_group, a_queue, a_snapshot, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def group() -> ConsumerGroup:
    cluster = a_cluster()
    a_broker(cluster)
    group = a_group(cluster)
    a_member(group, "c1", 3600)
    return group


def a_head(group: ConsumerGroup, topic: str, seconds: float, **fields: Any) -> None:
    queue = a_queue(group.cluster, topic)
    a_snapshot(group, queue, 10, 90)
    said = {"head_since": ago(seconds), "cached_min": 10, "cached_max": 20, "cached_count": 10}
    it_held(group, queue, "c1", 3600, **(said | fields))


def test_the_longest_of_a_group_counts(group: ConsumerGroup) -> None:
    a_head(group, "Orders", 300)
    a_head(group, "Refunds", 720)
    value, said = of_group(Measure.BLOCKED)
    assert (value, said) == (720.0, "c1 has held the same oldest message of Refunds/broker-a/0 for 12 min")
    assert column(Measure.BLOCKED).since(0) == ago(720)


def test_by_topic_that_of_its_queues_counts(group: ConsumerGroup) -> None:
    a_head(group, "Orders", 300)
    a_head(group, "Refunds", 720)
    assert everything("Orders").topics["Orders"].columns[Measure.BLOCKED].values == [300.0]


def test_one_that_the_consumer_offset_has_passed_is_finished(group: ConsumerGroup) -> None:
    a_head(group, "Orders", 300, cached_min=9)
    assert of_group(Measure.BLOCKED) == (0.0, "no member has held the same oldest message since its previous report")


@pytest.mark.parametrize("said", [{"running_info_error": "timed out"}, {"running_info_at": None}])
def test_what_a_silent_member_holds_is_not_known(group: ConsumerGroup, said: dict[str, Any]) -> None:
    group.clients.update(**said)
    assert of_group(Measure.BLOCKED) == (None, "c1 has not reported its cached messages")


def test_a_head_that_stands_is_known_though_another_member_is_silent(group: ConsumerGroup) -> None:
    a_head(group, "Orders", 300)
    a_member(group, "c2", 3600, running_info_error="timed out")
    assert of_group(Measure.BLOCKED)[0] == 300.0


def test_the_head_of_one_member_resolves_nothing_while_another_is_silent(group: ConsumerGroup) -> None:
    a_rule("Message stuck", measure="blocked_seconds", threshold=200, for_seconds=0, clear_seconds=0)
    a_head(group, "Orders", 300)
    evaluate(NOW, lambda: NOW)
    assert Incident.objects.get().status == "firing"

    group.assignments.update(head_since=ago(20))
    a_member(group, "c2", 3600, running_info_error="timed out")
    evaluate(NOW + timedelta(seconds=15), lambda: NOW)

    incident = Incident.objects.get()
    assert (incident.status, incident.resolved_at) == ("firing", None)
    assert stored_words(incident.unknown_reason) == "c2 has not reported its cached messages"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"consume_type": "CONSUME_POP"}, "POP consumers"),
        ({"consume_type": "CONSUME_ACTIVELY"}, "pull consumers"),
        ({"members": None, "membership_error": "broker-a timed out"}, "broker-a timed out"),
    ],
)
def test_members_that_do_not_tell_leave_it_unknown(group: ConsumerGroup, fields: dict[str, Any], reason: str) -> None:
    ConsumerGroup.objects.filter(pk=group.pk).update(**fields)
    value, said = of_group(Measure.BLOCKED)
    assert value is None
    assert reason in said
