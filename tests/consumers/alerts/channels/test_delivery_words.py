"""What became of a notification is stored as a code with its values, and worded for whoever reads it."""

from enum import StrEnum

import pytest
from django.utils.translation import override

from consumers.alerts.channels.kinds.sending import Answer, outcome_of, quoted, with_note
from consumers.alerts.channels.receiver import INSTEAD, scrubbed_answer
from consumers.vocabulary.alerts import DeliveryResult, TemplateProblem, UrlProblem
from consumers.vocabulary.reasons import stored_reason
from consumers.words.alerts import DELIVERY_RESULTS, TEMPLATE_PROBLEMS, URL_PROBLEMS
from consumers.words.reasons import stored_words

NOT_FOUND = stored_reason(DeliveryResult.REFUSED, said="404 Not Found")


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        (Answer(200, "OK", "ok"), DeliveryResult.ANSWERED, "200 OK: ok"),
        (Answer(500, "Internal Server Error", ""), DeliveryResult.ANSWERED, "500 Internal Server Error"),
        (Answer(429, "Too Many Requests", ""), DeliveryResult.ANSWERED, "429 Too Many Requests"),
        (Answer(404, "Not Found", "no hook"), DeliveryResult.REFUSED, "refused (404 Not Found: no hook)"),
        (Answer(200, "OK", "\x01"), DeliveryResult.ANSWERED_NO_TEXT, "200 OK: a response that is not text"),
        (Answer(200, "", '{"code": 19001}'), DeliveryResult.ANSWERED, '200: {"code": 19001}'),
    ],
)
def test_an_answer_is_stored_as_a_code(answer: Answer, code: DeliveryResult, words: str) -> None:
    stored = outcome_of(answer).answer
    assert f'"code": "{code}"' in stored
    assert stored_words(stored) == words


def test_it_is_worded_in_the_language_of_the_reader() -> None:
    given_up = stored_reason(DeliveryResult.GIVEN_UP, hours="24", why=NOT_FOUND)
    with override("zh-hans"):
        assert stored_words(given_up) == "24 小时内无法送达任何消息，已放弃：已拒绝（404 Not Found）"


@pytest.mark.parametrize(
    ("words", "codes"),
    [(DELIVERY_RESULTS, DeliveryResult), (TEMPLATE_PROBLEMS, TemplateProblem), (URL_PROBLEMS, UrlProblem)],
)
def test_each_code_has_words(words: dict[str, object], codes: type[StrEnum]) -> None:
    assert list(words) == list(codes)


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "refused (404 Not Found) (The template could not be filled: no such filter.)"),
        ("zh-hans", "已拒绝（404 Not Found） （无法填充模板：no such filter。）"),
    ],
)
def test_what_a_template_did_comes_after_it_in_the_language_of_the_reader(language: str, words: str) -> None:
    note = stored_reason(TemplateProblem.NOT_FILLED, error="no such filter")
    with override(language):
        assert stored_words(with_note(NOT_FOUND, note)) == words


@pytest.mark.parametrize("said", ['{"code": 19001, "msg": "no bot"}', '["a", "b"]'])
def test_json_of_a_service_is_not_taken_for_a_code(said: str) -> None:
    assert stored_words(stored_reason(DeliveryResult.APPRISE_SAID, lines=quoted(said))) == f"“{said}”"


def test_a_secret_is_taken_out_of_the_values_and_not_of_the_code() -> None:
    given_up = stored_reason(DeliveryResult.GIVEN_UP, hours="24", why=stored_reason(DeliveryResult.REFUSED, said="key"))
    shown = scrubbed_answer(given_up, {"secret": "refused", "token": "code", "url": "https://h/keys"}, "said")
    assert shown == given_up
    assert stored_words(scrubbed_answer(NOT_FOUND, {"token": "Found"})) == f"refused (404 Not {INSTEAD})"
