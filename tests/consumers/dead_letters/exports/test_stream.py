"""What the reader of an export is told, chunk by chunk, and where it is not whole."""

import pytest
from redis import Redis

from consumers.dead_letters.export_channel import ALIVE_SECONDS, Channel, ChunkWriter
from consumers.dead_letters.export_stream import ExportFailed, ExportFormat, ExportWanted, streamed
from consumers.dead_letters.filters import DeadLetterFilters

WANTED = ExportWanted("prod", "billing", ExportFormat.CSV, with_bodies=False, filters=DeadLetterFilters())


@pytest.fixture
def channel(redis: Redis) -> Channel:
    return Channel.opened()


def test_a_whole_export_is_what_was_written_and_no_more(channel: Channel) -> None:
    with ChunkWriter(channel) as writer:
        writer.put(b"head\r\n", 0)
        writer.put(b"one\r\ntwo\r\n", 2)
        writer.end(2)
    assert b"".join(streamed(channel, WANTED)) == b"head\r\none\r\ntwo\r\n"


def test_chunks_that_expired_on_the_way_are_missed(channel: Channel) -> None:
    with ChunkWriter(channel) as writer:
        writer.put(b"one\r\n", 1)
        writer.end(501)
    *_, last = streamed(channel, WANTED)
    assert last.startswith(b"# incomplete: 500 messages were lost in transfer")


def test_a_failure_before_the_first_line_is_no_export(channel: Channel) -> None:
    with ChunkWriter(channel) as writer:
        writer.fail("broker-a: connection refused")
    with pytest.raises(ExportFailed, match="broker-a: connection refused"):
        streamed(channel, WANTED)


def test_a_worker_that_dies_on_the_way_is_told_in_the_last_line(channel: Channel, redis: Redis) -> None:
    with ChunkWriter(channel) as writer:
        writer.put(b"one\r\n", 1)
    assert 0 < redis.ttl(channel.alive) <= ALIVE_SECONDS
    redis.delete(channel.alive)
    stream = streamed(channel, WANTED, patience_seconds=0.1)
    *_, last = stream
    assert last.startswith(b"# incomplete: The general worker has not answered")
