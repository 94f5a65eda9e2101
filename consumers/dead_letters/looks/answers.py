"""A look as it waits in Redis: asked, then answered or failed; gone after two minutes.

Its key holds who asked and whether for content, so that nobody reads another's answer, or more than they may see.
"""

import secrets
from dataclasses import asdict, dataclass
from datetime import datetime

from consumers.errands import questions

from .look import Look, MessagePlace

KEPT_SECONDS = 120


@dataclass(frozen=True)
class LookAnswer:
    """Without a look and a reason it is still awaited."""

    asked_at: datetime
    look: Look | None
    reason: str | None


@dataclass(frozen=True)
class LookKey:
    user_id: int
    with_content: bool
    token: str

    @classmethod
    def made(cls, user_id: int, *, with_content: bool) -> "LookKey":
        return cls(user_id, with_content, secrets.token_urlsafe(18))

    @classmethod
    def of(cls, text: str) -> "LookKey":
        _, _, user_id, seen, token = text.split(":")
        return cls(int(user_id), seen == "content", token)

    def __str__(self) -> str:
        return f"consumerscope:look:{self.user_id}:{'content' if self.with_content else 'facts'}:{self.token}"


def put_question(key: LookKey, place: MessagePlace, now: datetime) -> None:
    """Raises RedisDown."""
    questions.put_question(str(key), {"place": asdict(place)}, now, KEPT_SECONDS)


def put_answer(key: str, look: Look | None, reason: str | None) -> None:
    """Nothing where the question is gone. Raises RedisDown."""
    answer = {"look": None if look is None else look.as_json(), "reason": reason}
    questions.put_answer(key, answer, KEPT_SECONDS)


def answer_of(key: LookKey, place: MessagePlace) -> LookAnswer | None:
    """None where there is no such question of this user about this place, or no longer. Raises RedisDown."""
    said = questions.what_is_said(str(key)) or {}
    if said.get("place") != asdict(place):
        return None
    look = said.get("look")
    return LookAnswer(
        datetime.fromisoformat(said["asked_at"]), None if look is None else Look.of_json(look), said.get("reason")
    )
