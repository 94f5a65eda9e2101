"""Requests from pages to the general worker, and its answers, through Redis. Refuses at once where Redis is down."""

import json
import logging
import secrets
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from threading import Lock
from typing import Any, Generic, TypeVar

import redis
from celery import Task, current_app
from django.conf import settings
from kombu.exceptions import OperationalError

from consumers.vocabulary.reasons import AnswerProblem, PollProblem, stored_reason
from consumers.words.reasons import coded_reason, stored_words

# Redis between pages and the general worker: what is asked and answered there lives for minutes, and in memory.
ANSWER_SECONDS = 2.0


class RedisDown(Exception):
    """str() is a coded reason, in the language of whoever asked."""


@contextmanager
def redis_client(*, longest_wait_seconds: float = 0.0) -> Iterator[redis.Redis]:
    """Raises RedisDown from the block too. `longest_wait_seconds`: how long a blocking call of it may take."""
    client = redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=ANSWER_SECONDS + longest_wait_seconds,
        socket_connect_timeout=ANSWER_SECONDS,
    )
    try:
        yield client
    except (redis.exceptions.ConnectionError, redis.exceptions.TimeoutError, OperationalError) as error:
        raise RedisDown(coded_reason(PollProblem.REDIS_DOWN, error=str(error))) from error
    finally:
        client.close()


# Questions to the general worker as they wait in Redis: asked, then answered, gone after a while.
# A worker that has not answered by then does not run, or has too much to do.
PATIENCE = timedelta(seconds=10)

Result = TypeVar("Result")


def new_token() -> str:
    """Names one request; nobody can guess it."""
    return secrets.token_urlsafe(18)


def user_key(kind: str, user_id: int, token: str) -> str:
    """With the user who asked, so that nobody reads another user's answer."""
    return f"consumerscope:{kind}:{user_id}:{token}"


def user_of(key: str) -> int:
    return int(key.split(":")[2])


def put_question(key: str, question: dict[str, Any], now: datetime, kept_seconds: int) -> None:
    """Raises RedisDown."""
    with redis_client() as client:
        client.set(key, json.dumps({**question, "asked_at": now.isoformat()}), ex=kept_seconds)


def put_answer(key: str, answer: dict[str, Any], kept_seconds: int) -> bool:
    """Beside the question. False where that is gone: nobody waits for it. Raises RedisDown."""
    with redis_client() as client:
        asked = client.get(key)
        if asked is not None:
            client.set(key, json.dumps(json.loads(asked) | answer), ex=kept_seconds, xx=True)
    return asked is not None


class AnswerFailed(Exception):
    """Why there is nothing to answer with: `reason` is a stored one, str() its words for whoever asks now."""

    def __init__(self, problem: AnswerProblem, **values: Any) -> None:
        self.reason = stored_reason(problem, **values)
        super().__init__(self.reason)

    def __str__(self) -> str:
        return stored_words(self.reason)


@contextmanager
def answering(key: str, name: str, kept_seconds: int) -> Iterator[dict[str, Any]]:
    """The block puts its answer under `name`. Whatever happens in it, whoever waits is answered."""
    answer: dict[str, Any] = {name: None, "reason": stored_reason(AnswerProblem.WORKER_FAILED)}
    try:
        yield answer
    except AnswerFailed as error:
        answer["reason"] = error.reason
    finally:
        if answer[name] is not None:
            answer["reason"] = None
        if put_answer(key, answer, kept_seconds):
            with redis_client() as client:
                client.rpush(_bell(key), "answered")
                client.expire(_bell(key), kept_seconds)


def wait_for_answer(key: str, patience: timedelta) -> None:
    """Until the worker has answered, or `patience` is over. Raises RedisDown."""
    seconds = round(patience.total_seconds())
    with redis_client(longest_wait_seconds=seconds) as client:
        client.blpop([_bell(key)], timeout=seconds)


def _bell(key: str) -> str:
    return f"consumerscope:answered:{key}"


@dataclass(frozen=True)
class Answer(Generic[Result]):
    """Without a result and a reason the answer is still awaited."""

    asked_at: datetime
    result: Result | None
    reason: str | None

    def reason_at(self, now: datetime, patience: timedelta) -> str | None:
        """Why there is no result; null where there is one, and while the worker may still answer."""
        if self.result is None and self.reason is None and now - self.asked_at >= patience:
            return worker_silent(patience)
        return self.reason


def worker_silent(patience: timedelta) -> str:
    return str(AnswerFailed(AnswerProblem.WORKER_SILENT, n=round(patience.total_seconds())))


def read_answer(
    key: str, question: dict[str, Any], name: str, parsed: Callable[[Any], Result]
) -> Answer[Result] | None:
    """None where `question` was not asked under this key, or has expired. Raises RedisDown."""
    stored = stored_answer(key) or {}
    if any(stored.get(part) != value for part, value in question.items()) or "asked_at" not in stored:
        return None
    result = stored.get(name)
    return Answer(
        datetime.fromisoformat(stored["asked_at"]),
        None if result is None else parsed(result),
        stored_words(stored.get("reason")),
    )


def stored_answer(key: str) -> dict[str, Any] | None:
    """The question with `asked_at` and, once there is one, its answer. Raises RedisDown."""
    with redis_client() as client:
        text = client.get(key)
    return None if text is None else dict(json.loads(text))


# Asks a worker for something that a person waits for: at once or not at all.
# Celery would try to connect a hundred times.
ONCE = {"max_retries": 0, "interval_start": 0, "interval_step": 0, "interval_max": 0}


def publish_or_leave(task: Task[Any, Any], *, expires_seconds: float, **wanted: Any) -> bool:
    """As `publish`; False where Redis is down: then beat hands it over later."""
    try:
        publish(task, expires_seconds=expires_seconds, **wanted)
    except RedisDown:
        return False
    return True


def ask(task: Task[Any, Any], key: str, question: dict[str, Any], now: datetime, kept_seconds: int) -> None:
    """Asks the general worker `question`; it finds the key of its answer beside it. Raises RedisDown."""
    put_question(key, question, now, kept_seconds)
    publish(task, expires_seconds=PATIENCE.total_seconds(), key=key, **question)


def publish(task: Task[Any, Any], *, expires_seconds: float, **wanted: Any) -> None:
    """A worker of the task's queue that comes to it after `expires_seconds` leaves it. Raises RedisDown."""
    with (
        redis_client(),
        current_app.connection_for_write(url=settings.CELERY_BROKER_URL, connect_timeout=ANSWER_SECONDS) as connection,
    ):
        connection.transport_options = {**(connection.transport_options or {}), **ONCE}
        over: dict[str, Any] = {"connection": connection}
        task.apply_async(kwargs=wanted, expires=expires_seconds, retry=False, **over)


# Counts in windows of time, shared by all processes over Redis; while it does not answer, each process counts alone.
#
# Whoever is counted must not fail, nor wait for long, because Redis is down.

logger = logging.getLogger(__name__)

COUNT_SECONDS = 0.2
# After it did not answer, it is left alone for so long.
AWAY_SECONDS = 10.0


class Counts:
    def __init__(self, url: str) -> None:
        self._redis = redis.Redis.from_url(url, socket_timeout=COUNT_SECONDS, socket_connect_timeout=COUNT_SECONDS)
        self._away_until: float | None = None
        # By length of the window: its number, and what it counted.
        self._here: dict[int, tuple[int, Counter[str]]] = {}
        self._lock = Lock()

    def add(self, name: str, *, now: float, seconds: int, more: int = 1) -> int:
        """`more` of `name` in the window of `seconds` that holds `now` (Unix time): how many that makes."""
        return self._add(name, more, now, seconds)

    def take_back(self, name: str, *, now: float, seconds: int) -> None:
        """One less of it: what was counted shall not count."""
        self._add(name, -1, now, seconds)

    def forget(self, name: str, *, now: float, seconds: int) -> None:
        """None of it any more."""
        self._add(name, None, now, seconds)

    def _add(self, name: str, more: int | None, now: float, seconds: int) -> int:
        """`more` null: what was counted is forgotten."""
        window = int(now // seconds)
        if self._away_until is None or now >= self._away_until:
            try:
                return self._add_there(f"consumerscope:count:{name}:{window}", more, 2 * seconds)
            except redis.exceptions.RedisError as error:
                self._away_until = now + AWAY_SECONDS
                logger.warning("Redis does not answer (%s): each process counts requests for itself.", error)
        return self._add_here(name, more, window, seconds)

    def _add_there(self, key: str, more: int | None, kept_seconds: int) -> int:
        with self._redis.pipeline(transaction=False) as calls:
            if more is None:
                calls.delete(key)
            else:
                calls.incrby(key, more)
                calls.expire(key, kept_seconds)
            counted = calls.execute()[0]
        self._away_until = None
        return 0 if more is None else int(counted)

    def _add_here(self, name: str, more: int | None, window: int, seconds: int) -> int:
        with self._lock:
            counted, here = self._here.get(seconds, (window, Counter()))
            if counted != window:
                here = Counter()
            self._here[seconds] = window, here
            here[name] = 0 if more is None else here[name] + more
            return here[name]


def counts() -> Counts:
    return of_this_process(settings.REDIS_URL)


@lru_cache(maxsize=1)
def of_this_process(url: str) -> Counts:
    return Counts(url)
