"""Mails, as a mail server gets them."""

from collections.abc import Iterator
from typing import Any

import pytest

from consumers.alerts.channels.deliver import deliver
from consumers.alerts.channels.kinds.email import page
from consumers.alerts.channels.render import Rendered
from consumers.models import Channel, ConsumerGroup, Delivery, Incident
from consumers.words.reasons import stored_words
from tests.alert_rows import a_rule, an_incident, an_incident_event
from tests.channel_rows import a_message, a_real_channel
from tests.fake_clock import FakeClock
from tests.smtp_receiver import SmtpReceiver, smtp_receiver
from tests.world import NOW, a_cluster, a_group

pytestmark = pytest.mark.django_db


@pytest.fixture
def server(settings: Any) -> Iterator[SmtpReceiver]:
    with smtp_receiver() as one:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.CONSUMERSCOPE_EMAIL_URL = f"smtp://127.0.0.1:{one.port}"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", one.port
        settings.DEFAULT_FROM_EMAIL = "Consumerscope <scope@example.org>"
        yield one


@pytest.fixture
def incident() -> Incident:
    group: ConsumerGroup = a_group(a_cluster())
    return an_incident(a_rule(), group)


def mailbox(*recipients: str) -> Channel:
    return a_real_channel("mail", kind="email", recipients=list(recipients or ["ann@example.org"]))


def told(channel: Channel, delivery: Delivery, clock: FakeClock) -> tuple[str, str | None]:
    again = deliver(channel.pk, clock, clock.pause)
    clock.at = again or clock.at
    delivery.refresh_from_db()
    return delivery.status, stored_words(delivery.tries.latest("number").answer)


def test_a_mail_has_a_title_a_text_and_a_page(server: SmtpReceiver, incident: Incident) -> None:
    channel = mailbox()
    delivery = a_message(channel, an_incident_event(incident))
    assert told(channel, delivery, FakeClock()) == ("sent", "1 of 1 recipients accepted by the mail server.")
    [(recipient, mail)] = server.mails
    assert (recipient, mail["To"]) == ("ann@example.org", "ann@example.org")
    assert mail["Subject"] == "FIRING · Far behind: billing"
    assert mail["From"] == "Consumerscope <scope@example.org>"
    assert mail["Message-ID"] == f"<{delivery.pk}@example.org>"
    assert [part.get_content_type() for part in mail.iter_parts()] == ["text/plain", "text/html"]
    assert "10 min 20 s behind, for 5 min" in mail.get_body(("plain",)).get_content()  # type: ignore[union-attr]


def test_the_end_of_an_incident_answers_the_mail_of_its_beginning(server: SmtpReceiver, incident: Incident) -> None:
    channel = mailbox()
    first = a_message(channel, an_incident_event(incident))
    incident.status, incident.resolved_at = "resolved", NOW
    second = a_message(channel, an_incident_event(incident, "resolved"))
    assert told(channel, second, FakeClock())[0] == "sent"
    begun, over = [mail for _, mail in server.mails]
    assert (over["In-Reply-To"], over["References"]) == (f"<{first.pk}@example.org>",) * 2
    assert begun["References"] is None
    assert over["Subject"].startswith("RESOLVED")


def test_who_is_refused_keeps_nobody_else_from_it_and_nobody_gets_it_twice(
    server: SmtpReceiver, incident: Incident
) -> None:
    server.refuse = {"bob@example.org": ["451 come later"]}
    channel, clock = mailbox("ann@example.org", "bob@example.org", "eve@example.org"), FakeClock()
    delivery = a_message(channel, an_incident_event(incident))
    answer = "2 of 3 recipients accepted by the mail server. bob@example.org was refused: 451 come later."
    assert told(channel, delivery, clock) == ("waiting", answer)
    assert told(channel, delivery, clock)[0] == "sent"
    assert [recipient for recipient, _ in server.mails] == ["ann@example.org", "eve@example.org", "bob@example.org"]
    assert len({mail["Message-ID"] for _, mail in server.mails}) == 1


def test_a_mailbox_that_does_not_exist_is_given_up_after_three_tries(server: SmtpReceiver, incident: Incident) -> None:
    server.refuse = {"bob@example.org": ["550 no such mailbox"] * 9}
    channel, clock = mailbox("ann@example.org", "bob@example.org"), FakeClock()
    delivery = a_message(channel, an_incident_event(incident))
    assert [told(channel, delivery, clock)[0] for _ in range(3)] == ["waiting", "waiting", "failed"]
    assert "bob@example.org was refused: 550 no such mailbox" in str(stored_words(delivery.error))
    assert [recipient for recipient, _ in server.mails] == ["ann@example.org"]


def test_a_site_without_a_mail_server_says_so(incident: Incident, settings: Any) -> None:
    settings.CONSUMERSCOPE_EMAIL_URL = ""
    channel = mailbox()
    delivery = a_message(channel, an_incident_event(incident))
    status, answer = told(channel, delivery, FakeClock())
    assert status == "waiting"
    assert "CONSUMERSCOPE_EMAIL_URL" in (answer or "")


def test_a_mail_server_that_is_down_is_tried_again(server: SmtpReceiver, incident: Incident, settings: Any) -> None:
    settings.EMAIL_PORT = 1
    channel = mailbox()
    delivery = a_message(channel, an_incident_event(incident))
    status, answer = told(channel, delivery, FakeClock())
    assert status == "waiting"
    assert "Connection refused" in (answer or "")


def test_a_name_that_holds_html_stays_text_on_the_page() -> None:
    made = page(Rendered("t", "<script>x</script> & https://scope.example.org/a?b=1"))
    assert "<script>" not in made
    assert '<a href="https://scope.example.org/a?b=1">' in made


def test_a_line_break_in_a_name_begins_no_header(server: SmtpReceiver, incident: Incident) -> None:
    channel = mailbox()
    Channel.objects.update(title_template="{{ rule.name }}\r\nBcc: eve@example.org")
    a_message(channel, an_incident_event(incident))
    deliver(channel.pk, FakeClock(), FakeClock().pause)
    [(_, mail)] = server.mails
    assert (mail["Subject"], mail["Bcc"]) == ("Far behind Bcc: eve@example.org", None)
