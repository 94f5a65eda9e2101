"""Who is told of what: one message for each round, rule and channel. The rule has no waits."""

import pytest

from consumers.models import AlertRule, Delivery, DeliveryEvent, IncidentEvent
from consumers.words.reasons import stored_words
from tests.alert_rounds import a_round, told
from tests.alert_rows import a_channel, a_note, a_rule, a_silence
from tests.world import NOW, ago

pytestmark = pytest.mark.django_db
LATE, FINE = 620.0, 12.0


@pytest.fixture
def rule() -> AlertRule:
    return a_rule(for_seconds=0, clear_seconds=0)


def messages(channel: str = "on call") -> list[list[tuple[str, str]]]:
    """Of a channel, in order: kind and group of each change in each message."""
    payloads = Delivery.objects.filter(channel__name=channel).order_by("number").values_list("payload", flat=True)
    return [
        [(event["kind"], event["incident"]["subject"]["group"]) for event in payload["events"]] for payload in payloads
    ]


def test_what_fires_at_once_is_one_message(rule: AlertRule) -> None:
    a_channel()
    report = a_round(ago(60), {"audit": LATE, "billing": LATE, "search": FINE}, rule)
    a_round(NOW, {"audit": LATE, "billing": FINE, "search": LATE}, rule)
    assert messages() == [
        [("firing", "audit"), ("firing", "billing")],
        [("firing", "search"), ("resolved", "billing")],
    ]
    assert (report.fired, report.resolved, report.deliveries) == (2, 0, 1)


def test_the_worst_comes_first_in_a_message(rule: AlertRule) -> None:
    a_channel()
    rule.overrides = [{"group_pattern": "search", "severity": "critical"}]
    a_round(NOW, {"audit": LATE, "billing": LATE, "search": LATE}, rule)
    assert messages() == [[("firing", "search"), ("firing", "audit"), ("firing", "billing")]]


def test_each_rule_has_a_message_of_its_own(rule: AlertRule) -> None:
    a_channel()
    worse = a_rule("Much too far behind", for_seconds=0, threshold=600, severity="critical")
    a_round(NOW, {"billing": LATE}, rule, worse)
    assert messages() == [[("firing", "billing")], [("firing", "billing")]]
    assert list(Delivery.objects.order_by("number").values_list("number", flat=True)) == [1, 2]


def test_a_message_waits_at_once_and_holds_what_is_known(rule: AlertRule) -> None:
    channel = a_channel()
    a_round(NOW, {"billing": LATE}, rule)
    delivery = Delivery.objects.get()
    incident = delivery.payload["events"][0]["incident"]
    assert (delivery.status, delivery.created_at, delivery.next_try_at) == ("waiting", NOW, NOW)
    assert (delivery.channel, delivery.payload["delivery"]) == (channel, str(delivery.pk))
    assert (incident["value"], incident["status"], incident["fired_at"]) == (LATE, "firing", NOW.isoformat())
    assert (
        delivery.payload["events"][0]["sentence"]
        == "prod/billing: Far behind since 2026-03-14 03:00:00 UTC: 620.0 measured"
    )


def test_nothing_is_told_where_nothing_changes(rule: AlertRule) -> None:
    a_channel()
    for seconds in (60, 45, 30):
        a_round(ago(seconds), {"billing": LATE + seconds}, rule)
    assert len(messages()) == 1


def test_unknown_is_told_to_nobody(rule: AlertRule) -> None:
    a_channel()
    a_round(ago(60), {"billing": LATE}, rule)
    a_round(ago(30), {"billing": None}, rule)
    a_round(NOW, {"billing": LATE}, rule)
    assert told() == [("firing", "billing"), ("unknown", "billing"), ("known", "billing")]
    assert len(messages()) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"enabled": False},
        {"severities": ["critical"]},
        {"cluster": "staging"},
        {"group_pattern": "search*"},
        {"labels": {"team": "search"}},
    ],
)
def test_a_channel_is_not_told_of_what_it_does_not_take(rule: AlertRule, fields: dict[str, object]) -> None:
    a_note()
    a_channel(**fields)
    a_channel("everything")
    a_round(ago(60), {"billing": LATE}, rule)
    a_round(NOW, {"billing": FINE}, rule)
    assert (messages(), len(messages("everything"))) == ([], 2)


def test_only_channels_that_were_told_of_the_beginning_are_told_of_the_end(rule: AlertRule) -> None:
    a_channel()
    a_channel("silent on ends", tells_resolved=False)
    a_round(ago(60), {"billing": LATE}, rule)
    a_channel("made later")
    a_round(NOW, {"billing": FINE}, rule)
    assert messages() == [[("firing", "billing")], [("resolved", "billing")]]
    assert messages("silent on ends") == [[("firing", "billing")]]
    assert messages("made later") == []


def test_a_channel_whose_message_was_dropped_is_not_told_of_the_end(rule: AlertRule) -> None:
    a_channel()
    a_round(ago(60), {"billing": LATE}, rule)
    Delivery.objects.update(status="dropped")
    a_round(NOW, {"billing": FINE}, rule)
    assert len(messages()) == 1


def test_the_end_of_a_removed_rule_is_told(rule: AlertRule) -> None:
    a_channel()
    a_round(ago(60), {"billing": LATE}, rule)
    rule.delete()
    a_round(NOW, {"billing": LATE})
    newest = Delivery.objects.get(number=2).payload
    assert (newest["rule"]["name"], newest["events"][0]["kind"]) == ("Far behind", "resolved")


def test_a_silenced_incident_is_noted_and_not_told(rule: AlertRule) -> None:
    a_channel()
    a_silence(group_pattern="bill*")
    a_round(NOW, {"billing": LATE, "search": LATE}, rule)
    assert messages() == [[("firing", "search")]]
    assert told() == [("firing", "billing"), ("silenced", "billing"), ("firing", "search")]
    assert stored_words(IncidentEvent.objects.get(kind="silenced").sentence) == (
        "prod/billing: silenced until 2026-03-14 04:00:00 UTC by ann: the database moves"
    )


def test_what_still_fires_when_its_silence_ends_is_told_then_and_once(rule: AlertRule) -> None:
    a_channel()
    a_silence(ends_at=ago(30))
    for seconds in (60, 45, 30, 15):
        a_round(ago(seconds), {"billing": LATE}, rule)
    assert messages() == [[("firing", "billing")]]
    assert told() == [("firing", "billing"), ("silenced", "billing"), ("unsilenced", "billing")]
    assert IncidentEvent.objects.get(kind="unsilenced").at == Delivery.objects.get().created_at == ago(30)


def test_what_was_told_before_its_silence_is_not_told_again(rule: AlertRule) -> None:
    a_channel()
    a_silence(starts_at=ago(50), ends_at=ago(30))
    for seconds in (60, 45, 30):
        a_round(ago(seconds), {"billing": LATE}, rule)
    assert messages() == [[("firing", "billing")]]


def test_what_ends_under_its_silence_without_having_been_told_is_never_told(rule: AlertRule) -> None:
    a_channel()
    a_silence()
    a_round(ago(60), {"billing": LATE}, rule)
    a_round(NOW, {"billing": FINE}, rule)
    assert messages() == []


def test_the_end_of_what_was_told_is_told_under_a_silence_too(rule: AlertRule) -> None:
    a_channel()
    a_round(ago(60), {"billing": LATE}, rule)
    a_silence(starts_at=ago(50))
    a_round(ago(30), {"billing": LATE}, rule)
    a_round(NOW, {"billing": FINE}, rule)
    assert messages() == [[("firing", "billing")], [("resolved", "billing")]]


@pytest.mark.parametrize(
    "fields", [{"cluster": "staging"}, {"topic": "Orders"}, {"starts_at": ago(-60)}, {"labels": {"team": "search"}}]
)
def test_a_silence_of_something_else_silences_nothing(rule: AlertRule, fields: dict[str, object]) -> None:
    a_channel()
    a_note()
    a_silence(**fields)
    a_silence(rule=a_rule("Another"))
    a_round(NOW, {"billing": LATE}, rule)
    assert len(messages()) == 1


def test_every_change_is_in_one_message_of_a_channel_only(rule: AlertRule) -> None:
    a_channel()
    a_channel("everything")
    a_round(ago(60), {"audit": LATE, "billing": LATE}, rule)
    a_round(NOW, {"audit": FINE, "billing": LATE}, rule)
    tells = list(DeliveryEvent.objects.values_list("channel__name", "event__kind", "event__incident__group_name"))
    assert len(tells) == len(set(tells)) == 6
