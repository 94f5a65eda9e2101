"""Alerts as Alertmanager's API takes them: their form, and a real Alertmanager that shows them."""

import json
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from consumers.alerts.channels.deliver import deliver
from consumers.alerts.channels.queue import channels_due, comes_again
from consumers.models import Channel, ConsumerGroup, Delivery, Incident
from tests.alert_rows import a_rule, an_incident, an_incident_event
from tests.channel_rows import a_message, a_real_channel
from tests.fake_clock import FakeClock
from tests.http_receiver import HttpReceiver, status
from tests.world import NOW, a_cluster, a_group

pytestmark = pytest.mark.django_db
ALERTMANAGER = shutil.which("prometheus-alertmanager")


@pytest.fixture
def group() -> ConsumerGroup:
    return a_group(a_cluster())


@pytest.fixture
def incident(group: ConsumerGroup) -> Incident:
    said = {"labels": {"team": "payments", "cluster": "of a note"}, "owner": "payments", "note": "One at a time."}
    return an_incident(a_rule(), group, **said, runbook_url="https://wiki.example.org/billing")


def alertmanager(url: str, **fields: Any) -> Channel:
    return a_real_channel("alertmanager", kind="alertmanager", url=url, **fields)


def sent(receiver: HttpReceiver) -> list[list[dict[str, Any]]]:
    return [json.loads(one.content) for one in receiver.received]


def test_an_incident_is_an_alert_with_its_names_as_labels(
    receiver: HttpReceiver, incident: Incident, settings: Any
) -> None:
    settings.CONSUMERSCOPE_URL = "https://scope.example.org"
    channel, clock = alertmanager(f"{receiver.url}/prefix/"), FakeClock()
    a_message(channel, an_incident_event(incident))
    deliver(channel.pk, clock, clock.pause)
    assert receiver.received[0].path == "/prefix/api/v2/alerts"
    [[alert]] = sent(receiver)
    assert alert["labels"] == {
        "alertname": "Far behind",
        "severity": "warning",
        "source": "consumerscope",
        "cluster": "prod",
        "group": "billing",
        "team": "payments",
    }
    assert alert["annotations"] == {
        "summary": "10 min 20 s behind, for 5 min",
        "evidence": "10 min 20 s behind",
        "owner": "payments",
        "note": "One at a time.",
        "runbook_url": "https://wiki.example.org/billing",
        "incident": str(incident.pk),
    }
    assert alert["startsAt"] == incident.started_at.isoformat()
    assert alert["generatorURL"] == f"https://scope.example.org/alerts/incidents/{incident.pk}/"


def test_what_fires_does_not_end_for_a_day(receiver: HttpReceiver, incident: Incident) -> None:
    channel, clock = alertmanager(receiver.url), FakeClock()
    a_message(channel, an_incident_event(incident))
    deliver(channel.pk, clock, clock.pause)
    ends = datetime.fromisoformat(sent(receiver)[0][0]["endsAt"])
    assert timedelta(hours=24) <= ends - NOW < timedelta(hours=24, seconds=1)


def test_its_end_bears_the_labels_that_it_began_with(receiver: HttpReceiver, incident: Incident) -> None:
    channel, clock = alertmanager(receiver.url), FakeClock()
    a_message(channel, an_incident_event(incident))
    incident.severity, incident.labels = "critical", {"team": "others"}
    incident.status, incident.resolved_at = "resolved", NOW
    incident.save()
    a_message(channel, an_incident_event(incident, "resolved"))
    deliver(channel.pk, clock, clock.pause)
    [firing], [resolved] = sent(receiver)
    assert resolved["labels"] == firing["labels"]
    assert resolved["endsAt"] == NOW.isoformat()


@pytest.mark.parametrize(
    ("fields", "header"),
    [
        ({}, None),
        ({"username": "ann", "password": "pw"}, "Basic YW5uOnB3"),
        ({"token": "t0ken"}, "Bearer t0ken"),
    ],
)
def test_it_says_who_it_is(
    receiver: HttpReceiver, incident: Incident, fields: dict[str, str], header: str | None
) -> None:
    channel, clock = alertmanager(receiver.url, **fields), FakeClock()
    a_message(channel, an_incident_event(incident))
    deliver(channel.pk, clock, clock.pause)
    assert receiver.received[0].headers.get("Authorization") == header


def test_what_fires_is_told_again_each_minute_and_only_then(receiver: HttpReceiver, incident: Incident) -> None:
    channel, clock = alertmanager(receiver.url), FakeClock()
    a_message(channel, an_incident_event(incident))
    again_at = deliver(channel.pk, clock, clock.pause)
    assert again_at is not None
    assert timedelta(seconds=59) < again_at - clock.at < timedelta(seconds=60)
    assert (len(sent(receiver)), channels_due(clock.at)) == (1, [])
    clock.pass_by(61)
    assert channels_due(clock.at) == [channel.pk]
    deliver(channel.pk, clock, clock.pause)
    first, again = sent(receiver)
    assert again[0]["labels"] == first[0]["labels"]
    assert again[0]["endsAt"] > first[0]["endsAt"]
    assert Delivery.objects.count() == 1


@pytest.mark.parametrize("change", [{"status": "resolved", "resolved_at": NOW}, {"status": "pending"}])
def test_what_does_not_fire_is_not_told_again(
    receiver: HttpReceiver, incident: Incident, change: dict[str, Any]
) -> None:
    channel, clock = alertmanager(receiver.url), FakeClock()
    a_message(channel, an_incident_event(incident))
    Incident.objects.update(**change)
    assert deliver(channel.pk, clock, clock.pause) is None
    assert (len(sent(receiver)), channels_due(clock.at + timedelta(hours=1))) == (1, [])


def test_nothing_is_repeated_while_a_message_waits(receiver: HttpReceiver, incident: Incident) -> None:
    receiver.answers = [status(500)]
    channel, clock = alertmanager(receiver.url), FakeClock()
    delivery = a_message(channel, an_incident_event(incident))
    deliver(channel.pk, clock, clock.pause)
    delivery.refresh_from_db()
    assert len(receiver.received) == 1
    assert comes_again(channel.pk, clock.at) == delivery.next_try_at


@pytest.fixture
def real(tmp_path: Path) -> Iterator[str]:
    """The address of a real Alertmanager."""
    if ALERTMANAGER is None:
        pytest.skip("prometheus-alertmanager is not installed: apt-get install prometheus-alertmanager")
    (tmp_path / "am.yml").write_text("route: {receiver: nobody}\nreceivers: [{name: nobody}]\n")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = [f"--config.file={tmp_path}/am.yml", f"--storage.path={tmp_path}/data", "--cluster.listen-address="]
    running = subprocess.Popen(
        [ALERTMANAGER, *options, f"--web.listen-address=127.0.0.1:{port}"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until(lambda: answer(f"http://127.0.0.1:{port}/-/ready") is not None)
        yield f"http://127.0.0.1:{port}"
    finally:
        running.terminate()
        running.wait(40)


def answer(url: str) -> bytes | None:
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=5) as got:
            return bytes(got.read())
    except OSError:
        return None


def until(holds: Callable[[], bool]) -> None:
    for _ in range(200):
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError("It did not come to hold within 10 s.")


def active(url: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(answer(f"{url}/api/v2/alerts?active=true") or b"[]")
    return found


def test_a_real_alertmanager_shows_what_fires_until_it_is_over(real: str, incident: Incident) -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    Incident.objects.update(started_at=now - timedelta(minutes=10))
    incident.refresh_from_db()
    channel, clock = alertmanager(real), FakeClock(now)
    a_message(channel, an_incident_event(incident), at=now)
    deliver(channel.pk, clock, clock.pause)
    until(lambda: len(active(real)) == 1)
    [alert] = active(real)
    assert (alert["labels"]["group"], alert["status"]["state"]) == ("billing", "active")
    assert datetime.fromisoformat(alert["startsAt"]) == incident.started_at
    incident.status, incident.resolved_at = "resolved", now
    incident.save()
    told = a_message(channel, an_incident_event(incident, "resolved"), at=now)
    deliver(channel.pk, clock, clock.pause)
    told.refresh_from_db()
    assert (told.status, told.error) == ("sent", None)
    until(lambda: active(real) == [])


def test_a_real_alertmanager_keeps_what_fires_when_an_older_end_comes_late(
    real: str, incident: Incident, group: ConsumerGroup
) -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    started, ended = now - timedelta(hours=2), now - timedelta(hours=1)
    channel, clock = alertmanager(real), FakeClock(now)
    Incident.objects.update(started_at=started, status="resolved", resolved_at=ended)
    incident.refresh_from_db()
    newer = an_incident(incident.rule, group, labels=incident.labels, started_at=now - timedelta(minutes=1))
    for event in (an_incident_event(incident), an_incident_event(newer), an_incident_event(incident, "resolved")):
        a_message(channel, event, at=now)
    deliver(channel.pk, clock, clock.pause)
    assert set(Delivery.objects.values_list("status", flat=True)) == {"sent"}
    until(lambda: len(active(real)) == 1)
    [alert] = active(real)
    assert alert["annotations"]["incident"] == str(newer.pk)
