"""An answer of the general worker as a page shows it: awaited, there, or a sentence that says why there is none."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from consumers.jobs.acts import ActRefused
from consumers.jobs.asking import Answer, RedisDown

Result = TypeVar("Result")


@dataclass(frozen=True)
class AwaitedAnswer(Generic[Result]):
    """Awaited while it has neither a result nor a sentence. `token` is null where nothing was requested."""

    token: str | None = None
    result: Result | None = None
    sentence: str = ""
    is_expired: bool = False

    @property
    def is_awaited(self) -> bool:
        return self.token is not None and self.result is None and not self.sentence

    @property
    def status(self) -> int:
        return 410 if self.is_expired else 200


def awaited_answer(
    token: str, read: Callable[[], Answer[Result] | None], *, now: datetime, patience: timedelta, expired: str
) -> AwaitedAnswer[Result]:
    """`read` asks Redis; `expired` is what to say where the request is no longer there."""
    try:
        answer = read()
    except (ActRefused, RedisDown) as error:
        return AwaitedAnswer(token, sentence=str(error))
    if answer is None:
        return AwaitedAnswer(token, sentence=expired, is_expired=True)
    return AwaitedAnswer(token, answer.result, answer.reason_at(now, patience) or "")
