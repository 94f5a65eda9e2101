"""Whether a look that somebody asked for at once is done: kept in Redis for some minutes."""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta

from consumers.dead_letters.redis_client import redis_client
from consumers.models import ConsumerGroup

KEPT_SECONDS = 300
# A worker that has not answered by then does not run, or has too much to do.
PATIENCE = timedelta(seconds=10)


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
    with redis_client() as client:
        client.set(_key(group), json.dumps({"asked_at": now.isoformat()}), ex=KEPT_SECONDS)


def put_done(group: ConsumerGroup, failure: str | None, now: datetime) -> None:
    """Nothing where nobody asked. Raises RedisDown."""
    with redis_client() as client:
        asked = client.get(_key(group))
        if asked is not None:
            done = json.loads(asked) | {"done_at": now.isoformat(), "failure": failure}
            client.set(_key(group), json.dumps(done), ex=KEPT_SECONDS, xx=True)


def asked_look(group: ConsumerGroup) -> AskedLook | None:
    """None where nobody asked within some minutes. Raises RedisDown."""
    with redis_client() as client:
        text = client.get(_key(group))
    if text is None:
        return None
    said = json.loads(text)
    done_at = said.get("done_at")
    return AskedLook(
        datetime.fromisoformat(said["asked_at"]),
        None if done_at is None else datetime.fromisoformat(done_at),
        said.get("failure"),
    )


def _key(group: ConsumerGroup) -> str:
    return f"consumerscope:dead letters asked:{group.pk}"
