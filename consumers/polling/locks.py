"""Locks across all processes: a lock in Redis, and a lease in the database, which decides."""

import contextlib
import logging
import threading
import time
from collections.abc import Iterator
from datetime import timedelta

import redis
from django.conf import settings
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.models import DateTimeField, ExpressionWrapper
from django.db.models.functions import Now
from redis.lock import Lock

from consumers.models import Lease
from consumers.polling.lease_holder import is_gone, new_holder

# Redis refuses most latecomers without a write to the database. Redis may be down, hang, or lose its locks in a
# restart: the lease still holds. Both expire by themselves (by the clock of Redis or of the database), so a killed
# holder blocks nobody for long. A holder on this machine whose process is gone blocks nobody at all.
# If a clock was ahead and is set back, a killed holder's lock would last longer. A lease with more time left than it
# was taken for is therefore void, and so is a Redis lock with more time left if there is no lease.
logger = logging.getLogger(__name__)

REDIS_ANSWER_SECONDS = 2.0

# Clocks are corrected by up to this much every day; such a correction voids no lock.
NTP_SECONDS = 60.0

# A renewed lock is renewed after this fraction of its duration.
RENEWED_AFTER = 1 / 3

# Holders of this process whose block has ended and whose row still exists.
_not_given_back: set[str] = set()


class Locked(Exception):
    """Another holder has the lock."""


class Held:
    """A held lock. A slow holder checks the lock before any step that must not be done twice."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._is_lost = False

    def check(self) -> None:
        """Raises Locked if the lock was lost meanwhile: another process may be at work."""
        if self._is_lost:
            raise Locked(f"{self._name} took too long, and may be being done by another process.")

    def lose(self) -> None:
        self._is_lost = True


@contextlib.contextmanager
def lock(name: str, seconds: float, *, renewed: bool = False) -> Iterator[Held]:
    """Holds `name` for the block: for at most `seconds`, or, if `renewed`, for as long as the block lasts.

    Raises Locked at once if another holder has the lock.
    """
    held = Held(name)
    with _in_redis(name, seconds) as in_redis, _lease(name, seconds) as holder:
        if not renewed:
            yield held
            return
        ended = threading.Event()
        renewal = _Renewal(held, name, seconds, holder, in_redis, ended)
        thread = threading.Thread(target=renewal.run, name=f"lock {name}", daemon=True)
        thread.start()
        try:
            yield held
        finally:
            ended.set()
            thread.join(seconds)


@contextlib.contextmanager
def _in_redis(name: str, seconds: float) -> Iterator[Lock | None]:
    """None if Redis does not answer or cannot lock. Raises Locked."""
    client = redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=REDIS_ANSWER_SECONDS, socket_connect_timeout=REDIS_ANSWER_SECONDS
    )
    # The lock belongs to the process, not to the thread: another thread renews it.
    held: Lock | None = client.lock(f"consumerscope:{name}", timeout=seconds, blocking=False, thread_local=False)
    try:
        if held is not None and not (held.acquire(token=new_holder()) or _taken_over(client, held)):
            left = client.pttl(f"consumerscope:{name}") / 1000
            if left <= seconds + NTP_SECONDS or _is_leased(name):
                raise _locked(name)
            held = None
    except redis.exceptions.RedisError as error:
        logger.warning("Redis does not answer (%s); the lease in the database alone serves.", error)
        held = None
    except Locked:
        client.close()
        raise
    try:
        yield held
    finally:
        if held is not None:
            # The lock may have expired under a slow holder, or Redis may be down: either way there is nothing to
            # release.
            with contextlib.suppress(redis.exceptions.RedisError):
                held.release()
        client.close()


def _taken_over(client: redis.Redis, held: Lock) -> bool:
    """Whether the lock was taken over: its holder was a process that is gone, and no other process was quicker."""
    token = client.get(held.name)
    before = token.decode(errors="replace") if isinstance(token, bytes) else ""
    if not is_gone(before):
        return False
    with contextlib.suppress(redis.exceptions.LockError):
        held.do_release(before)
    return bool(held.acquire(token=new_holder()))


@contextlib.contextmanager
def _lease(name: str, seconds: float) -> Iterator[str]:
    """Yields the holder. Raises Locked."""
    holder = new_holder()
    known = Lease.objects.filter(name=name)
    _delete_void(name)
    if (before := known.first()) is not None and (before.holder in _not_given_back or is_gone(before.holder)):
        known.filter(holder=before.holder).delete()
        _not_given_back.discard(before.holder)
    try:
        with transaction.atomic():
            Lease.objects.create(name=name, holder=holder, expires_at=_in(seconds), seconds=seconds)
    except IntegrityError:
        raise _locked(name) from None
    try:
        yield holder
    finally:
        _give_back(name, holder)


def _give_back(name: str, holder: str) -> None:
    """Releases the lease. The block has done its work even if the database refuses this write, for example on a full
    disk.
    """
    try:
        Lease.objects.filter(name=name, holder=holder).delete()
    except DatabaseError as error:
        _not_given_back.add(holder)
        logger.error("The lease of %s could not be given back (%s): the next that asks here gets it.", name, error)


def _delete_void(name: str) -> None:
    """Deletes a lease that has expired, or has more time left than it was taken for: the clock was set back since."""
    known = Lease.objects.filter(name=name)
    known.filter(expires_at__lte=Now()).delete()
    taken_for = known.filter(seconds__isnull=False).values_list("seconds", flat=True).first()
    if taken_for is not None:
        known.filter(seconds=taken_for, expires_at__gt=_in(taken_for + NTP_SECONDS)).delete()


def _is_leased(name: str) -> bool:
    _delete_void(name)
    return Lease.objects.filter(name=name).exists()


class _Renewal:
    """Renews a lock while its block lasts, in a thread with its own connection."""

    def __init__(
        self, held: Held, name: str, seconds: float, holder: str, in_redis: Lock | None, ended: threading.Event
    ) -> None:
        self._held, self._name, self._seconds, self._holder = held, name, seconds, holder
        self._in_redis, self._over = in_redis, ended
        self._kept_until = time.monotonic() + seconds

    def run(self) -> None:
        try:
            while not self._over.wait(self._seconds * RENEWED_AFTER):
                if not self._renew():
                    self._held.lose()
                    logger.error("The lock of %s was lost while it was being done.", self._name)
                    return
        finally:
            connection.close()

    def _renew(self) -> bool:
        """False if another holder may have the lock by now."""
        began = time.monotonic()
        try:
            mine = Lease.objects.filter(name=self._name, holder=self._holder)
            if not mine.update(expires_at=_in(self._seconds)):
                return False
        except DatabaseError:
            logger.exception("The lease of %s could not be renewed.", self._name)
            return time.monotonic() < self._kept_until
        self._kept_until = began + self._seconds
        self._renew_in_redis()
        return True

    def _renew_in_redis(self) -> None:
        """Renews the Redis lock. A restarted Redis has lost the lock; if another process takes it there, the lease
        refuses.
        """
        if self._in_redis is None:
            return
        try:
            self._in_redis.extend(self._seconds, replace_ttl=True)
        except redis.exceptions.RedisError as error:
            logger.warning("The lock of %s in Redis was not renewed (%s): its lease was.", self._name, error)


def _in(seconds: float) -> ExpressionWrapper:
    return ExpressionWrapper(Now() + timedelta(seconds=seconds), output_field=DateTimeField())


def _locked(name: str) -> Locked:
    return Locked(f"{name} is already being done by another process.")
