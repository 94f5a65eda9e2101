"""Secrets stay where they were sealed, whatever a receiver does with them."""

import logging
from typing import Any

import pytest
from django.apps import apps
from hypothesis import given, strategies as st

from consumers.alerts.channels.deliver import deliver
from consumers.alerts.channels.receiver import INSTEAD, LONGEST_SHOWN, scrubbed, scrubbed_answer, secrets_in
from consumers.models import Channel, DeliveryAttempt
from consumers.words.reasons import stored_words
from tests.alert_rows import a_rule, an_incident, an_incident_event
from tests.channel_rows import a_message, a_real_channel
from tests.fake_clock import FakeClock
from tests.http_receiver import HttpReceiver
from tests.world import a_cluster, a_group

CANARY = "canary7f3a9c51d2e84b60"


def echo(handler: Any) -> None:
    """Repeats all that came, as people's debugging receivers do."""
    text = f"{handler.path} {handler.headers}".replace("\n", " ").encode()[:150]
    handler.send_response(400, f"no {handler.path}")
    handler.send_header("Content-Length", str(len(text)))
    handler.end_headers()
    handler.wfile.write(text)


def channels(url: str) -> list[Channel]:
    webhook = {"url": f"{url}/{CANARY}?token={CANARY}", "secret": CANARY, "headers": {"Authorization": CANARY}}
    return [
        a_real_channel("webhook", kind="webhook", **webhook),
        a_real_channel("token", kind="alertmanager", url=f"{url}/am", token=CANARY),
        a_real_channel("password", kind="alertmanager", url=f"{url}/am", username="ann", password=CANARY),
        a_real_channel("chat", kind="apprise", url=f"{url.replace('http', 'mmost')}/{CANARY}"),
        a_real_channel("closed", kind="webhook", url=f"http://127.0.0.1:1/{CANARY}", secret=CANARY),
    ]


def everything_kept() -> str:
    """Every column of every row of alerts."""
    models = apps.get_app_config("consumers").get_models()
    return " ".join(str(row) for model in models for row in model._default_manager.values())


@pytest.mark.django_db
def test_no_row_and_no_log_holds_what_was_sealed(receiver: HttpReceiver, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    receiver.answers = [echo]
    event = an_incident_event(an_incident(a_rule(), a_group(a_cluster())))
    for channel in channels(receiver.url):
        clock = FakeClock()
        a_message(channel, event)
        deliver(channel.pk, clock, clock.pause)
    assert len(receiver.received) == 4
    kept = everything_kept()
    assert INSTEAD in " ".join(stored_words(one.answer) for one in DeliveryAttempt.objects.all())
    assert CANARY not in kept + caplog.text
    assert "YW5uOmNhbmFyeT" not in kept + caplog.text  # "ann:canary" in base64


@given(st.text(min_size=4), st.text(), st.text())
def test_a_secret_is_taken_out_wherever_it_stands(secret: str, before: str, after: str) -> None:
    assert secret not in scrubbed(before + secret + after, [secret]).replace(INSTEAD, "\0")


@pytest.mark.parametrize("said", ["%2Fcanary%2F7f3a%3D", "/canary/7f3a=", "/canary/7f3a%3D", "L2NhbmFyeS83ZjNhPQ=="])
def test_it_is_taken_out_in_the_forms_that_urls_and_headers_have(said: str) -> None:
    assert scrubbed(f"no {said}!", ["/canary/7f3a="]) == f"no {INSTEAD}!"


def test_each_part_of_a_url_is_a_secret_but_its_host() -> None:
    found = secrets_in({"url": "https://hooks.example.org/services/T0CANARY?key=K1CANARY", "headers": {"X": "HCANARY"}})
    said = scrubbed("hooks.example.org T0CANARY K1CANARY HCANARY", found)
    assert said == f"hooks.example.org {INSTEAD} {INSTEAD} {INSTEAD}"


def test_a_service_of_apprise_has_secrets_from_its_first_part_on() -> None:
    found = secrets_in({"url": "slack://T1CANARY/A1CANARY/T2CANARY"})
    assert scrubbed("T1CANARY A1CANARY T2CANARY", found) == f"{INSTEAD} {INSTEAD} {INSTEAD}"


@given(st.integers(0, 400))
def test_a_secret_is_not_cut_in_two_where_an_answer_is_cut(before: int) -> None:
    kept = scrubbed_answer("x" * before + CANARY + "y" * 400, {"secret": CANARY})
    assert len(kept) == LONGEST_SHOWN
    assert "canary" not in kept
