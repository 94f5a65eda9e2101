"""Looks in Redis: a reader gets the answer to their own question alone, for two minutes."""

from dataclasses import replace

import pytest
from django.utils.translation import override
from redis import Redis

from consumers.dead_letters.inspection import KEPT_SECONDS, InspectionKey, MessagePlace, answer_of, put_question
from consumers.jobs.asking import AnswerFailed, RedisDown, answering
from consumers.vocabulary.reasons import AnswerProblem
from tests.world import NOW

PLACE = MessagePlace("prod", "billing", "broker-a", 0, 7)


@pytest.fixture
def key(redis: Redis) -> InspectionKey:
    made = InspectionKey.made(3, with_content=True)
    put_question(made, PLACE, NOW)
    return made


def fail(key: InspectionKey) -> None:
    with answering(str(key), "look", KEPT_SECONDS):
        raise AnswerFailed(AnswerProblem.NO_MASTER, broker="broker-a")


def test_a_question_waits_for_its_answer(key: InspectionKey) -> None:
    answer = answer_of(key, PLACE)
    assert answer is not None
    assert (answer.asked_at, answer.result, answer.reason) == (NOW, None, None)


def test_a_failure_has_its_reason(key: InspectionKey) -> None:
    fail(key)
    answer = answer_of(key, PLACE)
    assert answer is not None
    assert answer.reason == "No master of broker-a is known. It may have left the cluster."


def test_a_failure_is_in_the_language_of_whoever_asks(key: InspectionKey) -> None:
    fail(key)
    with override("zh-hans"):
        answer = answer_of(key, PLACE)
        assert answer is not None
        assert "broker-a" in str(answer.reason)
        assert "No master" not in str(answer.reason)


def test_a_worker_that_fails_answers_all_the_same(key: InspectionKey) -> None:
    with pytest.raises(ZeroDivisionError), answering(str(key), "look", KEPT_SECONDS):
        raise ZeroDivisionError
    answer = answer_of(key, PLACE)
    assert answer is not None
    assert answer.reason == "The worker failed. See its log for the cause."


@pytest.mark.parametrize("other", [{"user_id": 4}, {"with_content": False}, {"token": "guessed"}])
def test_nobody_reads_the_answer_to_another_question(key: InspectionKey, other: dict[str, object]) -> None:
    assert answer_of(replace(key, **other), PLACE) is None  # type: ignore[arg-type]


def test_an_answer_is_about_one_place(key: InspectionKey) -> None:
    assert answer_of(key, replace(PLACE, offset=8)) is None


def test_it_is_gone_after_two_minutes(key: InspectionKey, redis: Redis) -> None:
    fail(key)
    assert 0 < redis.ttl(str(key)) <= 120


def test_an_answer_that_nobody_waits_for_is_not_kept(redis: Redis) -> None:
    fail(InspectionKey.made(3, with_content=True))
    assert redis.keys("consumerscope:look:*") == []


def test_two_questions_have_different_keys() -> None:
    assert InspectionKey.made(3, with_content=True) != InspectionKey.made(3, with_content=True)


@pytest.mark.usefixtures("redis_is_down")
def test_it_says_that_redis_is_down() -> None:
    with pytest.raises(RedisDown, match="Redis does not answer"):
        put_question(InspectionKey.made(3, with_content=True), PLACE, NOW)
