"""Topics that a group has offsets of and that no member subscribes to: every one of them must have said so."""

from dataclasses import replace

import pytest

from consumers.models import Cluster, ConsumerGroup
from consumers.polling.record.intervals import unsubscribed
from consumers.polling.record.recorder import Recorder
from tests.readings import T0, at, broker, client, group_members, members, reading, row

SINCE = "2026-03-01T01:00:00+00:00"
NOW = at(0).isoformat()


@pytest.mark.parametrize(
    ("sentence", "before", "lacking", "told", "expected"),
    [
        ("every member lacks it", {}, {"Old"}, {"Orders"}, {"Old": NOW}),
        ("still", {"Old": SINCE}, {"Old"}, {"Orders"}, {"Old": SINCE}),
        ("another member subscribes to it", {}, {"Old"}, {"Orders", "Old"}, {}),
        ("subscribed to again", {"Old": SINCE}, {"Old"}, {"Old"}, {}),
        ("the last registered subscribes to it", {"Old": SINCE}, set(), None, {}),
        ("a member has not said", {}, {"Old"}, None, {}),
        ("a member that came has not said yet", {"Old": SINCE}, {"Old"}, None, {"Old": SINCE}),
        ("its offsets are gone", {"Old": SINCE}, set(), {"Orders"}, {}),
    ],
    ids=lambda value: value.replace(" ", "_") if isinstance(value, str) else "",
)
def test_unsubscribed(sentence, before, lacking, told, expected):
    assert unsubscribed(before, lacking, told, at(0)) == expected, sentence


@pytest.fixture
def record(db):
    recorder = Recorder.of(Cluster.objects.create(name="prod", namesrv="127.0.0.1:9876", created_at=T0))
    rows = row("billing", "Orders", 0, 7, 10), row("billing", "Old", 0, 7, 10)
    retry = row("billing", "%RETRY%billing", 0, 1, 1, kind="retry")

    def record(seconds, groups, clients=()):
        recorder.record(reading(seconds, broker("broker-a", *rows, retry)), members(seconds, groups, clients), None)
        return ConsumerGroup.objects.get().unsubscribed

    return record


def said(client_id, *topics):
    subscriptions = tuple({"topic": topic, "expression": "*", "expression_type": "TAG"} for topic in topics)
    return replace(client("billing", client_id), subscriptions=subscriptions)


def test_it_is_known_once_every_member_has_said_what_it_subscribes_to(record):
    both = [group_members("billing", "c1", "c2")]
    assert record(0, both, [said("c1", "Orders", "%RETRY%billing")]) == {}
    assert record(15, both, [said("c2", "Orders", "%RETRY%billing")]) == {"Old": at(15).isoformat()}
    assert record(30, both) == {"Old": at(15).isoformat()}


def test_a_group_without_members_keeps_what_was_known(record):
    record(0, [group_members("billing", "c1")], [said("c1", "Orders")])
    assert record(15, [group_members("billing")]) == {"Old": at(0).isoformat()}


def test_an_answer_that_is_not_whole_proves_nothing(record):
    answer = group_members("billing", "c1", error="broker-b: silent")
    assert record(0, [answer], [said("c1", "Orders")]) == {}
