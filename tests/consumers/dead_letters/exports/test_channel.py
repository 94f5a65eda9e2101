"""Chunks on their way through Redis: never many at a time, and neither end waits for one that is gone."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest
from redis import Redis

from consumers.dead_letters.export_channel import (
    WAITING_CHUNKS,
    Channel,
    ChunkKind,
    ChunkWriter,
    NobodyReads,
    WorkerSilent,
    read_chunks,
)
from consumers.jobs.asking import RedisDown


@pytest.fixture
def channel(redis: Redis) -> Channel:
    return Channel.opened()


@contextmanager
def writing(write: Callable[[], None]) -> Iterator[None]:
    thread = threading.Thread(target=write)
    thread.start()
    yield
    thread.join(40)
    assert not thread.is_alive()


def write_all(channel: Channel, chunks: int) -> None:
    with ChunkWriter(channel) as writer:
        for number in range(chunks):
            writer.put(b"%d" % number, 1)
        writer.end(chunks)


def test_what_is_written_is_read_in_order(channel: Channel) -> None:
    with writing(lambda: write_all(channel, 50)):
        read = list(read_chunks(channel))
    assert [chunk.content for chunk in read[:-1]] == [b"%d" % number for number in range(50)]
    assert (read[-1].kind, read[-1].messages) == (ChunkKind.END, 50)


def test_a_slow_reader_keeps_the_writer_to_eight_chunks(channel: Channel, redis: Redis) -> None:
    waiting = []
    with writing(lambda: write_all(channel, 40)):
        for _ in read_chunks(channel):
            waiting.append(redis.llen(channel.chunks))
    # The end of an export needs no room.
    assert max(waiting) <= WAITING_CHUNKS + 1
    assert len(waiting) == 41


def test_without_a_reader_only_eight_chunks_are_written(channel: Channel, redis: Redis) -> None:
    with ChunkWriter(channel, room_seconds=0.1) as writer:
        for _ in range(WAITING_CHUNKS):
            writer.put(b"x", 1)
        with pytest.raises(NobodyReads, match="Nobody has read the export"):
            writer.put(b"x", 1)
    assert redis.llen(channel.chunks) == WAITING_CHUNKS


def test_a_reader_that_leaves_ends_the_writer_at_once(channel: Channel) -> None:
    ended: list[str] = []

    def write() -> None:
        try:
            write_all(channel, 1000)
        except NobodyReads as gone:
            ended.append(str(gone))

    with writing(write):
        reading = read_chunks(channel)
        next(reading)
        reading.close()
    assert ended == ["The reader of the export has disconnected."]


def test_a_failure_is_the_last_thing_that_is_read(channel: Channel) -> None:
    with ChunkWriter(channel) as writer:
        writer.put(b"x", 1)
        writer.fail("broker-a: connection refused")
    lines, failure = read_chunks(channel)
    assert (lines.content, failure.kind, failure.reason) == (b"x", ChunkKind.FAILURE, "broker-a: connection refused")


def test_a_worker_that_says_nothing_is_told(channel: Channel) -> None:
    with pytest.raises(WorkerSilent, match="general worker has not answered"):
        next(read_chunks(channel, patience_seconds=0.1))


def test_everything_of_an_export_is_gone_when_it_was_read(channel: Channel, redis: Redis) -> None:
    with writing(lambda: write_all(channel, 3)):
        list(read_chunks(channel))
    assert redis.keys("consumerscope:export:*") == []


def test_what_nobody_takes_away_expires(channel: Channel, redis: Redis) -> None:
    with ChunkWriter(channel) as writer:
        writer.put(b"x", 1)
    keys = redis.keys("consumerscope:export:*")
    assert len(keys) == 3  # type: ignore[arg-type]
    assert all(0 < redis.ttl(key) <= 120 for key in keys)  # type: ignore[union-attr, operator]


@pytest.mark.usefixtures("redis_is_down")
def test_it_says_that_redis_is_down() -> None:
    with pytest.raises(RedisDown):
        Channel.opened()


@pytest.mark.parametrize("most", [1, 2])
def test_only_so_many_writers_have_a_place_and_one_is_free_when_one_ends(channel: Channel, most: int) -> None:
    with ExitStack() as others:
        writers = [others.enter_context(ChunkWriter(channel)) for _ in range(most)]
        assert all(writer.take_place(most) for writer in writers)
        with ChunkWriter(channel) as late:
            assert not late.take_place(most)
    with ChunkWriter(channel) as late:
        assert late.take_place(most)


@pytest.mark.parametrize(("call_seconds", "alive_seconds"), [(5.0, 20), (60.0, 70)])
def test_a_worker_lives_for_longer_than_a_call_may_take(
    channel: Channel, redis: Redis, call_seconds: float, alive_seconds: int
) -> None:
    with ChunkWriter(channel, call_seconds=call_seconds) as writer:
        assert writer.take_place(1)
        place = "consumerscope:export-place:0"
        assert {redis.ttl(channel.alive), redis.ttl(place)} <= {alive_seconds - 1, alive_seconds}
