"""Whether a look that somebody asked for at once is done: kept in Redis for some minutes."""

from dataclasses import dataclass
from datetime import datetime

from consumers.errands.questions import PATIENCE, put_answer, put_question, what_is_said
from consumers.models import ConsumerGroup

KEPT_SECONDS = 300


@dataclass(frozen=True)
class AskedLook:
    """`done_at` is null while it is awaited; `failure` says why it did not come to its end."""

    asked_at: datetime
    done_at: datetime | None
    failure: str | None

    def is_late(self, now: datetime) -> bool:
        return self.done_at is None and now - self.asked_at > PATIENCE


def put_asked(group: ConsumerGroup, now: datetime) -> None:
    """Raises RedisDown."""
    put_question(_key(group), {}, now, KEPT_SECONDS)


def put_done(group: ConsumerGroup, failure: str | None, now: datetime) -> None:
    """Nothing where nobody asked. Raises RedisDown."""
    put_answer(_key(group), {"done_at": now.isoformat(), "failure": failure}, KEPT_SECONDS)


def asked_look(group: ConsumerGroup) -> AskedLook | None:
    """None where nobody asked within some minutes. Raises RedisDown."""
    said = what_is_said(_key(group))
    if said is None:
        return None
    done_at = said.get("done_at")
    return AskedLook(
        datetime.fromisoformat(said["asked_at"]),
        None if done_at is None else datetime.fromisoformat(done_at),
        said.get("failure"),
    )


def _key(group: ConsumerGroup) -> str:
    return f"consumerscope:dead letters asked:{group.pk}"
