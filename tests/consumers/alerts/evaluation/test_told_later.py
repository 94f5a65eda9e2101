"""Channels that take an incident only after it fired: they are told by the next evaluation, and once."""

from collections.abc import Callable
from typing import Any

import pytest

from consumers.models import AlertRule, Channel, Delivery, DeliveryEvent, GroupNote, Measure, State
from tests.alert_rounds import SILENT, Values, a_round
from tests.alert_rows import a_channel, a_note, a_rule, a_silence
from tests.world import NOW, ago

pytestmark = pytest.mark.django_db
LATE, FINE = 620.0, 12.0


@pytest.fixture
def rule() -> AlertRule:
    return a_rule(for_seconds=0, clear_seconds=0)


def kinds(channel: str) -> list[list[str]]:
    payloads = Delivery.objects.filter(channel__name=channel).order_by("number").values_list("payload", flat=True)
    return [[event["kind"] for event in payload["events"]] for payload in payloads]


def switched_on() -> None:
    Channel.objects.filter(name="pager").update(enabled=True)


def takes_warnings() -> None:
    Channel.objects.filter(name="pager").update(severities=["critical", "warning"])


def is_critical() -> None:
    AlertRule.objects.update(severity="critical")


def is_theirs() -> None:
    GroupNote.objects.update(labels={"team": "pagers"})


@pytest.mark.parametrize(
    ("before", "change"),
    [
        ({"enabled": False}, switched_on),
        ({"severities": ["critical"]}, takes_warnings),
        ({"severities": ["critical"]}, is_critical),
        ({"labels": {"team": "pagers"}}, is_theirs),
    ],
)
def test_a_channel_that_takes_what_fires_only_now_is_told_once_and_of_the_end(
    rule: AlertRule, before: dict[str, Any], change: Callable[[], None]
) -> None:
    a_note()
    a_channel("pager", **before)
    a_channel()
    a_round(ago(60), {"billing": LATE}, rule)
    assert kinds("pager") == []
    change()
    for seconds in (45, 30):
        a_round(ago(seconds), {"billing": LATE}, AlertRule.objects.get())
    a_round(NOW, {"billing": FINE}, AlertRule.objects.get())
    assert kinds("pager") == kinds("on call") == [["firing"], ["resolved"]]


def test_a_channel_that_is_made_while_much_fires_has_one_message_of_each_rule(rule: AlertRule) -> None:
    worse = a_rule("Much too far behind", for_seconds=0, threshold=600)
    values = {f"group-{number:02}": LATE for number in range(30)}
    a_round(ago(60), values, rule, worse)
    a_channel("pager")
    report = a_round(ago(30), values | {"zeal": LATE}, rule, worse)
    assert kinds("pager") == [["firing"] * 31, ["firing"] * 31]
    assert (report.fired, report.deliveries) == (2, 2)


def test_it_is_told_of_what_fires_though_its_value_is_not_known_any_more(rule: AlertRule) -> None:
    a_round(ago(60), {"billing": LATE}, rule)
    a_channel("pager")
    a_round(ago(30), {"billing": None}, rule)
    assert kinds("pager") == [["firing"]]


def test_it_is_not_told_of_what_is_silenced_pending_or_over(rule: AlertRule) -> None:
    waits = a_rule("Far behind for long", for_seconds=600)
    values = Values({"audit": LATE, "billing": LATE, "search": LATE})
    a_round(ago(60), values, rule, waits)
    a_silence(group_pattern="bill*")
    a_round(ago(45), values, rule, waits)
    a_channel("pager")
    a_round(ago(30), {"audit": FINE, "billing": LATE, "search": LATE}, rule, waits)
    told = DeliveryEvent.objects.values_list("event__incident__group_name", "event__incident__rule_name")
    assert list(told) == [("search", "Far behind")]


def test_what_a_channel_dropped_is_told_when_it_is_switched_on_again_and_still_fires(rule: AlertRule) -> None:
    channel = a_channel("pager")
    a_round(ago(60), {"billing": LATE}, rule)
    Delivery.objects.update(status="dropped")
    Channel.objects.update(enabled=False)
    a_round(ago(45), {"billing": LATE}, rule)
    Channel.objects.update(enabled=True)
    a_round(ago(30), {"billing": LATE}, rule)
    a_round(NOW, {"billing": FINE}, rule)
    assert kinds("pager") == [["firing"], ["firing"], ["resolved"]]
    assert not DeliveryEvent.objects.filter(channel=channel, delivery__status="dropped").exists()


def test_what_was_given_up_because_nobody_was_there_is_told_again_while_it_fires(rule: AlertRule) -> None:
    a_channel("pager")
    a_round(ago(60), {"billing": LATE, "search": LATE}, rule)
    Delivery.objects.update(status="failed", refusals=0, may_have_arrived=True)
    for seconds in (45, 30):
        a_round(ago(seconds), {"billing": LATE, "search": FINE}, rule)
    # The beginning of what is over may have arrived all the same, so that its end is told.
    assert kinds("pager") == [["firing", "firing"], ["firing", "resolved"]]
    again = Delivery.objects.get(number=2).payload["events"]
    assert [event["incident"]["subject"]["group"] for event in again] == ["billing", "search"]


@pytest.mark.parametrize(("status", "refusals"), [("sent", 0), ("failed", 3), ("sending", 0), ("waiting", 0)])
def test_what_may_have_arrived_or_was_refused_is_not_told_again(rule: AlertRule, status: str, refusals: int) -> None:
    a_channel("pager")
    a_round(ago(60), {"billing": LATE}, rule)
    Delivery.objects.update(status=status, refusals=refusals)
    a_round(ago(30), {"billing": LATE}, rule)
    assert kinds("pager") == [["firing"]]


def test_a_message_bears_no_value_that_is_not_known_any_more(rule: AlertRule) -> None:
    a_round(ago(60), {"billing": LATE}, rule)
    a_channel("pager")
    a_round(ago(30), {"billing": None}, rule)
    incident = Delivery.objects.get().payload["events"][0]["incident"]
    assert (incident["value"], incident["unknown_reason"]) == (None, SILENT)
    assert incident["unknown_since"] == ago(30).isoformat()


def test_a_message_bears_no_state_that_is_not_known_any_more() -> None:
    rule = a_rule(measure="state", comparison="in", states=["STALL"], threshold=None, for_seconds=0)
    a_round(ago(60), Values({"billing": State.STALL}, Measure.STATE), rule)
    a_channel("pager")
    a_round(ago(30), Values({"billing": None}, Measure.STATE), rule)
    assert Delivery.objects.get().payload["events"][0]["incident"]["state"] is None
