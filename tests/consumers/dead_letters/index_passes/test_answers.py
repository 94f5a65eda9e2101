"""Looks in Redis: a reader gets the answer to their own question alone, for two minutes."""

from dataclasses import replace

import pytest
from redis import Redis

from consumers.dead_letters.inspection import InspectionKey, MessagePlace, answer_of, put_answer, put_question
from consumers.jobs.asking import RedisDown
from tests.world import NOW

PLACE = MessagePlace("prod", "billing", "broker-a", 0, 7)


@pytest.fixture
def key(redis: Redis) -> InspectionKey:
    made = InspectionKey.made(3, with_content=True)
    put_question(made, PLACE, NOW)
    return made


def test_a_question_waits_for_its_answer(key: InspectionKey) -> None:
    answer = answer_of(key, PLACE)
    assert answer is not None
    assert (answer.asked_at, answer.look, answer.reason) == (NOW, None, None)


def test_a_failure_has_its_reason(key: InspectionKey) -> None:
    put_answer(str(key), None, "broker-a: connection refused")
    answer = answer_of(key, PLACE)
    assert answer is not None
    assert answer.reason == "broker-a: connection refused"


@pytest.mark.parametrize("other", [{"user_id": 4}, {"with_content": False}, {"token": "guessed"}])
def test_nobody_reads_the_answer_to_another_question(key: InspectionKey, other: dict[str, object]) -> None:
    assert answer_of(replace(key, **other), PLACE) is None  # type: ignore[arg-type]


def test_an_answer_is_about_one_place(key: InspectionKey) -> None:
    assert answer_of(key, replace(PLACE, offset=8)) is None


def test_it_is_gone_after_two_minutes(key: InspectionKey, redis: Redis) -> None:
    put_answer(str(key), None, "no")
    assert 0 < redis.ttl(str(key)) <= 120


def test_an_answer_that_nobody_waits_for_is_not_kept(redis: Redis) -> None:
    put_answer(str(InspectionKey.made(3, with_content=True)), None, "no")
    assert redis.keys("consumerscope:look:*") == []


def test_two_questions_have_different_keys() -> None:
    assert InspectionKey.made(3, with_content=True) != InspectionKey.made(3, with_content=True)


@pytest.mark.usefixtures("redis_is_down")
def test_it_says_that_redis_is_down() -> None:
    with pytest.raises(RedisDown, match="Redis does not answer"):
        put_question(InspectionKey.made(3, with_content=True), PLACE, NOW)
