"""One POST to a receiver that behaves, and to those that do not."""

import ipaddress
import socket
import time

import pytest

from consumers.alerts.channels.kinds.addresses import WrongAddress, parsed_url
from consumers.alerts.channels.kinds.sending import LONGEST_ANSWER, Answer, NoAnswer, post
from consumers.words.reasons import stored_words
from tests.http_receiver import HttpReceiver, closes_half_way, never_ends, status

LOOPBACK = [ipaddress.ip_network("127.0.0.0/8")]


def posted(url: str, seconds: float = 5.0) -> Answer:
    return post(parsed_url(url), b"{}", {"X-Team": "payments"}, LOOPBACK, seconds)


def test_what_was_answered_comes_back(receiver: HttpReceiver) -> None:
    receiver.answers = [status(202, "thanks", Retry_After="7")]
    assert posted(f"{receiver.url}/a?b=c") == Answer(202, "Accepted", "thanks", 7.0)
    [got] = receiver.received
    assert (got.path, got.content, got.headers["X-Team"]) == ("/a?b=c", b"{}", "payments")


def test_the_header_host_is_of_the_name_that_was_entered(receiver: HttpReceiver) -> None:
    posted(f"http://localhost:{receiver.port}/")
    assert receiver.received[0].headers["Host"] == f"localhost:{receiver.port}"


def test_a_redirect_is_an_answer_and_not_followed(receiver: HttpReceiver) -> None:
    receiver.answers = [status(307, Location=f"{receiver.url}/elsewhere")]
    assert posted(receiver.url).status == 307
    assert len(receiver.received) == 1


def test_an_address_that_is_not_allowed_is_never_connected_to(receiver: HttpReceiver) -> None:
    with pytest.raises(WrongAddress) as raised:
        post(parsed_url(receiver.url), b"", {}, [], 5)
    assert "CONSUMERSCOPE_ALERT_NETWORKS" in stored_words(str(raised.value))
    assert receiver.received == []


def test_a_proxy_of_the_environment_is_not_asked(receiver: HttpReceiver, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert posted(receiver.url).status == 200


@pytest.mark.parametrize("behaviour", ["never_answers", "drips"])
def test_a_receiver_that_is_too_slow_is_left_in_time(receiver: HttpReceiver, behaviour: str) -> None:
    receiver.answers = [getattr(receiver, behaviour)]
    began = time.monotonic()
    with pytest.raises(NoAnswer) as raised:
        posted(receiver.url, seconds=0.3)
    assert "did not answer within 0.3 s" in stored_words(str(raised.value))
    assert time.monotonic() - began < 3


def test_a_receiver_that_closes_half_way_has_not_answered(receiver: HttpReceiver) -> None:
    receiver.answers = [closes_half_way]
    with pytest.raises(NoAnswer) as raised:
        posted(f"{receiver.url}/a-secret-path")
    assert stored_words(str(raised.value)).startswith(f"{receiver.url} did not answer")


def test_an_address_that_takes_nothing_gives_way_to_the_next(
    receiver: HttpReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", (text, receiver.port)) for text in ("127.0.0.2", "127.0.0.1")
    ]
    ask = socket.getaddrinfo
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda host, *told, **more: answers if host == "two.example" else ask(host, *told, **more),
    )
    assert posted(f"http://two.example:{receiver.port}/").status == 200


def test_the_sentence_does_not_hold_what_is_secret_of_a_url() -> None:
    with pytest.raises(NoAnswer) as refused:
        posted("http://127.0.0.1:1/a-secret-path?token=x")
    assert "secret" not in str(refused.value)
    assert "Connection refused" in str(refused.value)


def test_an_answer_that_never_ends_is_read_so_far_and_no_further(receiver: HttpReceiver) -> None:
    receiver.answers = [never_ends]
    began = time.monotonic()
    answer = posted(receiver.url, seconds=10)
    assert time.monotonic() - began < 5
    assert (answer.status, len(answer.text)) == (200, LONGEST_ANSWER)


@pytest.mark.parametrize("wish", ["-1", "x", "1e9", "99999999", "Wed, 21 Oct 2026 07:28:00 GMT"])
def test_a_wish_that_is_no_number_of_seconds_is_not_looked_at(receiver: HttpReceiver, wish: str) -> None:
    receiver.answers = [status(503, Retry_After=wish)]
    assert posted(receiver.url).retry_after_seconds is None
