"""One of a kind at a time, over all processes: a lock in Redis, or a lease in the database while Redis is down.

Both expire by themselves (by the clock of Redis or of the database), so that a killed holder blocks nobody for long.
"""

import contextlib
import logging
import os
import socket
import uuid
from collections.abc import Iterator
from datetime import timedelta

import redis
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import DateTimeField, ExpressionWrapper
from django.db.models.functions import Now

from consumers.models import Lease

logger = logging.getLogger(__name__)

REDIS_ANSWER_SECONDS = 2.0


class Locked(Exception):
    """Somebody else holds the lock."""


@contextlib.contextmanager
def lock(name: str, seconds: float) -> Iterator[None]:
    """Holds `name` for the block, for `seconds` at most. Raises Locked at once where another holds it."""
    client = redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=REDIS_ANSWER_SECONDS, socket_connect_timeout=REDIS_ANSWER_SECONDS
    )
    held = client.lock(f"consumerscope:{name}", timeout=seconds, blocking=False)
    try:
        taken = held.acquire()
    except redis.exceptions.ConnectionError as error:
        client.close()
        logger.warning("Redis does not answer (%s); a lease in the database serves instead.", error)
        with _lease(name, seconds):
            yield
        return
    try:
        if not taken:
            raise Locked(f"{name} is already being done by another process.")
        yield
    finally:
        if taken:
            # It may have expired under a slow holder, or Redis may be gone: either way there is nothing to release.
            with contextlib.suppress(redis.exceptions.LockError, redis.exceptions.ConnectionError):
                held.release()
        client.close()


@contextlib.contextmanager
def _lease(name: str, seconds: float) -> Iterator[None]:
    holder = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
    Lease.objects.filter(name=name, expires_at__lte=Now()).delete()
    expires_at = ExpressionWrapper(Now() + timedelta(seconds=seconds), output_field=DateTimeField())
    try:
        with transaction.atomic():
            Lease.objects.create(name=name, holder=holder, expires_at=expires_at)
    except IntegrityError:
        raise Locked(f"{name} is already being done by another process.") from None
    try:
        yield
    finally:
        Lease.objects.filter(name=name, holder=holder).delete()
