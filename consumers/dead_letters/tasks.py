"""Celery tasks of dead letters: index passes, exports, inspections and resends."""

import logging
import time
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

from celery import Task, shared_task
from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext

from consumers.dead_letters.export import Limits, export
from consumers.dead_letters.export_channel import PATIENCE_SECONDS, Channel, ChunkWriter, NobodyReads
from consumers.dead_letters.export_stream import ExportFailed, ExportWanted, streamed
from consumers.dead_letters.inspection import (
    KEPT_SECONDS,
    InspectionKey,
    MessagePlace,
    bodies_not_permitted,
    fetch_message,
    may_see,
    put_question,
)
from consumers.dead_letters.resend.preview import expire
from consumers.dead_letters.resend.run import run
from consumers.jobs import asking
from consumers.jobs.asking import PATIENCE, RedisDown, publish, publish_or_leave
from consumers.jobs.hold import left_behind, stale_after
from consumers.models import Cluster, ConsumerGroup, Resend, ResendStatus
from consumers.polling.locks import Locked, lock
from consumers.polling.registration import WireClosed
from consumers.words.reasons import stored_words

from .index import IndexLimits, index_groups, put_asked, put_done

# Index passes as tasks of the general worker: one at a time for each cluster.
logger = logging.getLogger(__name__)

# Renewed while a pass lasts; a killed worker delays the next pass no longer than this.
LOCK_SECONDS = 120.0

AGAIN_SECONDS, MOST_AGAIN = 1, 30

FAILED = "The worker failed. See its log for the cause."
BUSY = "A worker is already reading dead-letter messages of this cluster. Try again in a minute."


@shared_task(name="consumers.index_dead_letters")
def index_dead_letters() -> None:
    for cluster in Cluster.objects.order_by("pk"):
        try:
            with lock(f"dead letters:{cluster.name}", LOCK_SECONDS, renewed=True):
                index_groups(cluster, None, IndexLimits.of_site(), timezone.now())
        except Locked:
            logger.warning("Somebody looks into the dead letters of %s just now: this turn is left out.", cluster.name)
        except WireClosed as lost:
            logger.warning(
                "The look into the dead letters of %s goes on in the next turn: %s",
                cluster.name,
                stored_words(str(lost)),
            )


def ask_for_dead_letters(group: ConsumerGroup, now: datetime) -> None:
    """Requests a pass for one group at once. Raises RedisDown."""
    put_asked(group, now)
    publish(index_dead_letters_of, expires_seconds=3 * PATIENCE.total_seconds(), pk=group.pk)


@shared_task(name="consumers.index_dead_letters_of", bind=True, max_retries=MOST_AGAIN)
def index_dead_letters_of(self: Task, pk: int) -> None:
    """Runs after the pass that is now running."""
    group = ConsumerGroup.objects.select_related("cluster").get(pk=pk)
    try:
        with lock(f"dead letters:{group.cluster.name}", LOCK_SECONDS, renewed=True):
            index_groups(group.cluster, group, IndexLimits.of_site(), timezone.now())
    except Locked as locked:
        if self.request.retries >= MOST_AGAIN:
            return put_done(group, BUSY, timezone.now())
        raise self.retry(exc=locked, countdown=AGAIN_SECONDS) from None
    except Exception:
        put_done(group, FAILED, timezone.now())
        raise
    put_done(group, None, timezone.now())


# Exports: a view requests and streams, the general worker reads and writes.
def begun_export(wanted: ExportWanted, user_id: int) -> Iterator[bytes]:
    """The chunks to stream to the user. Raises ExportFailed where there is nothing to stream."""
    try:
        channel = Channel.opened()
        publish(
            export_dead_letters,
            expires_seconds=PATIENCE_SECONDS,
            token=channel.token,
            wanted=wanted.as_words(),
            user_id=user_id,
        )
    except RedisDown as error:
        raise ExportFailed(str(error)) from None
    return streamed(channel, wanted)


@shared_task(name="consumers.export_dead_letters")
def export_dead_letters(token: str, wanted: dict[str, Any], user_id: int) -> None:
    limits = Limits(
        seconds=settings.DEAD_LETTER_EXPORT_SECONDS,
        body_bytes=settings.MESSAGE_BODY_EXPORTED_BYTES,
        call_seconds=settings.POLL_CALL_DEADLINE_SECONDS,
        clock=time.monotonic,
    )
    with ChunkWriter(Channel(token), call_seconds=limits.call_seconds) as writer:
        try:
            if wanted["with_bodies"] and not may_see(user_id, wanted["cluster"]):
                raise ExportFailed(str(bodies_not_permitted(wanted["cluster"])))
            if not writer.take_place(settings.DEAD_LETTER_EXPORTS):
                raise ExportFailed(
                    gettext("%(most)s exports are running, which is the maximum. Try again when one has finished.")
                    % {"most": settings.DEAD_LETTER_EXPORTS}
                )
            writer.end(export(ExportWanted.of_words(wanted), writer, limits))
        except ExportFailed as error:
            writer.fail(str(error))
        except NobodyReads as gone:
            logger.info("An export of %s/%s was given up: %s", wanted["cluster"], wanted["group"], gone)
            writer.fail(str(gone))
        except Exception:
            writer.fail(gettext("The worker failed. See its log for the cause."))
            raise


# Fetching one dead-letter message: a page requests it, the general worker answers through Redis.
def ask_inspection(key: InspectionKey, place: MessagePlace, now: datetime) -> None:
    """Raises RedisDown."""
    put_question(key, place, now)
    publish(
        inspect_message,
        expires_seconds=PATIENCE.total_seconds(),
        key=str(key),
        place=asdict(place),
        with_content=key.with_content,
    )


@shared_task(name="consumers.inspect_message")
def inspect_message(key: str, place: dict[str, Any], with_content: bool) -> None:
    with asking.answering(key, "look", KEPT_SECONDS) as answer:
        asked = InspectionKey.of(key)
        if with_content and not (asked.with_content and may_see(asked.user_id, place["cluster"])):
            raise bodies_not_permitted(place["cluster"])
        inspection = fetch_message(MessagePlace(**place), timezone.now(), with_content=with_content)
        answer["look"] = inspection.as_json()


# Resends as tasks of the general worker. Beat hands over again what a dead worker left unfinished.
def enqueue(resend_id: UUID) -> bool:
    """Hands a started resend to the workers. False where Redis is down: then beat hands it over later."""
    return publish_or_leave(resend, expires_seconds=stale_after().total_seconds(), resend_id=str(resend_id))


@shared_task(name="consumers.resend")
def resend(resend_id: str) -> None:
    """The lock protects the start only: a longer run is protected by the heartbeat in its row."""
    try:
        with lock(f"resend:{resend_id}", stale_after().total_seconds()):
            run(UUID(resend_id), timezone.now, time.sleep)
    except Locked:
        logger.warning("Another worker has the re-send %s.", resend_id)


@shared_task(name="consumers.resend_due")
def resend_due() -> None:
    now = timezone.now()
    expire(now)
    for resend_id in left_behind(Resend, ResendStatus.RUNNING, now):
        resend.apply_async((str(resend_id),), expires=stale_after().total_seconds())
