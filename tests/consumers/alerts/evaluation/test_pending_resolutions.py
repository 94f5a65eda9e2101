"""Ends that never got to a channel which was told of the beginning: it is told of them later, and once."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from consumers.models import AlertRule, Channel, Delivery, DeliveryEvent
from consumers.words.reasons import stored_words
from tests.alert_rounds import a_round
from tests.alert_rows import a_channel, a_rule, a_silence
from tests.world import NOW, ago

pytestmark = pytest.mark.django_db
LATE, FINE = 620.0, 12.0
Values = dict[str, float | None]


@pytest.fixture
def rule() -> AlertRule:
    return a_rule(for_seconds=0, clear_seconds=0)


def goes(at: int, values: Values) -> None:
    """A round so many seconds ago, by the rules that are switched on; each message that goes is taken."""
    a_round(ago(at), values, *AlertRule.objects.filter(enabled=True))
    Delivery.objects.filter(status="waiting").update(status="sent")


def switched(on: bool) -> None:
    Channel.objects.filter(name="pager").update(enabled=on)


def heard() -> list[list[tuple[str, str]]]:
    """Kind and group of each change, message by message, of those that got there."""
    sent = Delivery.objects.filter(channel__name="pager", status="sent").order_by("number")
    return [
        [(event["kind"], event["incident"]["subject"]["group"]) for event in payload["events"]]
        for payload in sent.values_list("payload", flat=True)
    ]


BEGUN, OVER = [("firing", "billing")], [("resolved", "billing")]


def nothing() -> None:
    pass


def narrowed() -> None:
    Channel.objects.update(severities=["critical"], group_pattern="search*")


def rule_removed() -> None:
    AlertRule.objects.all().delete()


def rule_off() -> None:
    AlertRule.objects.update(enabled=False)


def silenced() -> None:
    a_silence(starts_at=ago(70), ends_at=ago(40))


def silenced_still() -> None:
    a_silence(starts_at=ago(70))


@pytest.mark.parametrize(
    ("meanwhile", "values", "ending"),
    [
        (nothing, {"billing": FINE}, "recovered"),
        (nothing, {}, "gone"),
        (narrowed, {"billing": FINE}, "recovered"),
        (rule_removed, {"billing": LATE}, "rule"),
        (rule_off, {"billing": LATE}, "rule"),
        (silenced, {"billing": FINE}, "recovered"),
        (silenced_still, {"billing": FINE}, "recovered"),
    ],
)
def test_what_ended_while_a_channel_was_off_is_told_once_when_it_is_on_again(
    rule: AlertRule, meanwhile: Callable[[], None], values: Values, ending: str
) -> None:
    a_channel("pager")
    goes(90, {"billing": LATE})
    switched(False)
    meanwhile()
    goes(60, values)
    assert heard() == [BEGUN]
    switched(True)
    for seconds in (30, 15, 0):
        goes(seconds, values)
    assert heard() == [BEGUN, OVER]
    told = Delivery.objects.filter(status="sent").latest("number").payload["events"][0]
    assert (told["incident"]["ending"], told["at"]) == (ending, ago(60).isoformat())


def tells_no_ends() -> None:
    Channel.objects.update(tells_resolved=False)


def tells_ends_again() -> None:
    Channel.objects.update(tells_resolved=True)


def beginning_dropped() -> None:
    Delivery.objects.update(status="dropped")


def beginning_in_vain() -> None:
    Delivery.objects.update(status="failed", refusals=0)


def made_again() -> None:
    Channel.objects.all().delete()
    a_channel("pager")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (tells_no_ends, tells_ends_again),
        (beginning_dropped, nothing),
        (beginning_in_vain, nothing),
        (nothing, beginning_dropped),
        (nothing, beginning_in_vain),
        (nothing, tells_no_ends),
        (nothing, made_again),
    ],
)
def test_whoever_did_not_hear_of_the_beginning_or_of_ends_is_owed_none(
    rule: AlertRule, before: Callable[[], None], after: Callable[[], None]
) -> None:
    a_channel("pager")
    goes(90, {"billing": LATE})
    switched(False)
    before()
    goes(60, {"billing": FINE})
    after()
    switched(True)
    goes(30, {"billing": FINE})
    assert [("resolved", "billing")] not in heard()


@pytest.mark.parametrize(
    ("lost", "is_told"),
    [
        ({"status": "dropped"}, True),
        ({"status": "dropped", "refusals": 2}, True),
        ({"status": "failed", "refusals": 0}, True),
        ({"status": "failed", "refusals": 3}, False),
        ({"status": "sending"}, False),
        ({"status": "waiting"}, False),
    ],
)
def test_an_end_that_got_nowhere_is_told_again_and_no_other(
    rule: AlertRule, lost: dict[str, Any], is_told: bool
) -> None:
    a_channel("pager")
    goes(90, {"billing": LATE})
    goes(60, {"billing": FINE})
    Delivery.objects.filter(number=2).update(**lost)
    for seconds in (30, 0):
        a_round(ago(seconds), {"billing": FINE}, rule)
    assert Delivery.objects.count() == (3 if is_told else 2)
    assert DeliveryEvent.objects.filter(event__kind="resolved").count() == 1


def test_an_end_stands_as_dropped_while_its_channel_is_off(rule: AlertRule) -> None:
    a_channel("pager")
    goes(90, {"billing": LATE})
    switched(False)
    report = a_round(ago(60), {"billing": FINE}, rule)
    dropped = Delivery.objects.get(number=2)
    assert (dropped.status, dropped.next_try_at, report.deliveries) == ("dropped", None, 0)
    assert stored_words(dropped.error) == "The channel was disabled when the incident resolved."
    goes(30, {"billing": FINE})
    assert Delivery.objects.count() == 2


def test_ends_of_a_rule_are_one_message_the_oldest_first_and_after_what_fires(rule: AlertRule) -> None:
    a_channel("pager")
    other = a_rule("Much too far behind", for_seconds=0, clear_seconds=0, threshold=650)
    goes(90, {"audit": LATE, "billing": LATE, "search": 700.0})
    switched(False)
    goes(75, {"audit": LATE, "billing": LATE, "search": FINE})
    goes(60, {"audit": FINE, "billing": FINE, "search": FINE})
    goes(45, {"audit": FINE, "billing": LATE, "search": FINE})
    switched(True)
    goes(30, {"audit": FINE, "billing": LATE, "search": FINE})
    assert heard()[2:] == [
        [("firing", "billing"), ("resolved", "search"), ("resolved", "audit"), ("resolved", "billing")],
        [("resolved", "search")],
    ]
    assert Delivery.objects.latest("number").payload["rule"]["name"] == other.name
    first, *_, last = Delivery.objects.get(status="sent", number__gt=4, payload__rule__name=rule.name).payload["events"]
    assert first["incident"]["id"] != last["incident"]["id"]


def test_many_ends_cost_no_more_statements_than_one(rule: AlertRule) -> None:
    a_channel("pager")
    calm = {f"group-{number}": FINE for number in range(40)}
    counted = []
    for hour, groups in ((1, 1), (2, 40)):
        at = NOW.replace(hour=hour)
        a_round(at.replace(minute=1), calm | dict.fromkeys(list(calm)[:groups], LATE), rule)
        Delivery.objects.update(status="sent")
        switched(False)
        a_round(at.replace(minute=2), calm, rule)
        switched(True)
        with CaptureQueriesContext(connection) as queries:
            assert a_round(at.replace(minute=3), calm, rule).deliveries == 1
        counted.append(len(queries))
    assert counted[0] == counted[1]


@pytest.mark.parametrize(("status", "observations"), [("sent", 0), ("waiting", 0), ("dropped", 1)])
def test_only_a_channel_that_lost_a_message_is_looked_after(rule: AlertRule, status: str, observations: int) -> None:
    a_channel("pager")
    a_round(ago(90), {"billing": LATE}, rule)
    a_round(ago(60), {"billing": FINE}, rule)
    Delivery.objects.update(status=status)
    with CaptureQueriesContext(connection) as queries:
        a_round(ago(30), {"billing": FINE}, rule)
    assert sum(query["sql"].startswith('SELECT "consumers_delivery"') for query in queries) == observations
