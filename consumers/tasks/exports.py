"""Exports of dead letters: a view asks and streams, the general worker reads and writes."""

import logging
import time
from collections.abc import Iterator
from typing import Any

from celery import shared_task
from django.conf import settings

from consumers.dead_letters.exports.channel import Channel
from consumers.dead_letters.exports.chunk_reader import PATIENCE_SECONDS
from consumers.dead_letters.exports.chunk_writer import ChunkWriter, NobodyReads
from consumers.dead_letters.exports.export import Limits, export
from consumers.dead_letters.exports.stream import streamed
from consumers.dead_letters.exports.wanted import ExportFailed, ExportWanted
from consumers.dead_letters.may_see import LOST, may_see
from consumers.errands.publishing import publish
from consumers.errands.redis_client import RedisDown

logger = logging.getLogger(__name__)


def begun_export(wanted: ExportWanted, user_id: int) -> Iterator[bytes]:
    """What to stream to the user. Raises ExportFailed where nothing can be."""
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
    with ChunkWriter(Channel(token)) as writer:
        try:
            if wanted["with_bodies"] and not may_see(user_id):
                raise ExportFailed(LOST)
            if not writer.take_place(settings.DEAD_LETTER_EXPORTS):
                raise ExportFailed(
                    f"As many exports as may go on at once ({settings.DEAD_LETTER_EXPORTS}) do: "
                    "try again when one is over."
                )
            writer.end(export(ExportWanted.of_words(wanted), writer, limits))
        except ExportFailed as error:
            writer.fail(str(error))
        except NobodyReads as gone:
            logger.info("An export of %s/%s was given up: %s", wanted["cluster"], wanted["group"], gone)
            writer.fail(str(gone))
        except Exception:
            writer.fail("The worker failed at it: its log says why.")
            raise
