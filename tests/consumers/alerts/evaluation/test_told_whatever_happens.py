"""Whatever happens to groups, channels and silences between rounds, a channel knows what fires and what is over of it,
each change once.
"""

import random
from collections import Counter
from datetime import timedelta

import pytest

from consumers.alerts.channels.queue import Taking
from consumers.models import AlertRule, Channel, Delivery, DeliveryEvent, Incident, Silence
from tests.alert_rounds import a_round
from tests.alert_rows import a_channel, a_rule, a_silence
from tests.world import NOW

pytestmark = pytest.mark.django_db
GROUPS = ("audit", "billing", "search")
ROUNDS = 25
LATE, FINE = 620.0, 12.0


def something_happens(chance: random.Random, number: int) -> None:
    at = NOW + timedelta(seconds=15 * number)
    match chance.randrange(6):
        case 0:
            # What a channel that is switched off leaves is dropped by whichever worker comes to it.
            Channel.objects.filter(name="team").update(enabled=chance.random() < 0.5)
            waiting = Delivery.objects.filter(status="waiting", channel__enabled=False)
            waiting.update(status="dropped")
        case 1:
            Channel.objects.filter(name="team").update(group_pattern=chance.choice(["", "bill*", "search"]))
        case 2:
            AlertRule.objects.update(severity=chance.choice(["critical", "warning"]))
        case 3:
            a_silence(group_pattern=chance.choice(GROUPS), starts_at=at, ends_at=at + timedelta(seconds=40))
        case 4:
            Channel.objects.filter(name="pager").update(enabled=chance.random() < 0.5)
        case 5:
            Delivery.objects.filter(status="waiting", channel__enabled=True).update(status="sent")


def told() -> Counter[tuple[str, str, str]]:
    """What was not dropped: channel, incident and kind."""
    rows = DeliveryEvent.objects.exclude(delivery__status="dropped")
    return Counter(
        (channel, str(incident), kind)
        for channel, incident, kind in rows.values_list("channel__name", "event__incident", "event__kind")
    )


def see_that_firing_is_known(before: Counter[tuple[str, str, str]], known: Counter[tuple[str, str, str]]) -> None:
    for incident in Incident.objects.filter(status="firing"):
        for channel in Channel.objects.filter(enabled=True):
            key = channel.name, str(incident.pk), "firing"
            if incident.silence_id is not None:
                assert key in before or key not in known
            elif Taking.of(channel).takes(incident):
                assert key in known


def see_that_all_know(before: Counter[tuple[str, str, str]]) -> None:
    known = told()
    assert all(count == 1 for count in known.values())
    assert all((channel, incident, "firing") in known for channel, incident, _ in known)
    see_that_firing_is_known(before, known)
    ended = {str(key) for key in Incident.objects.filter(status="resolved").values_list("pk", flat=True)}
    on = set(Channel.objects.filter(enabled=True).values_list("name", flat=True))
    for channel, incident, _ in known:
        assert incident not in ended or channel not in on or (channel, incident, "resolved") in known


@pytest.mark.parametrize("seed", range(4))
def test_each_channel_knows_what_fires_and_is_told_once(seed: int) -> None:
    chance = random.Random(seed)
    a_rule(for_seconds=0, clear_seconds=0)
    a_channel("pager", severities=["critical"])
    a_channel("team")
    for number in range(ROUNDS):
        something_happens(chance, number)
        before = told()
        values = {group: chance.choice([LATE, LATE, LATE, LATE, None, FINE]) for group in GROUPS}
        a_round(NOW + timedelta(seconds=15 * number), values, AlertRule.objects.get())
        see_that_all_know(before)
    assert Silence.objects.exists()
    assert told()
