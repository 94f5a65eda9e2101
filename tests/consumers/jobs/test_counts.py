"""Counting in windows, with Redis and without."""

import pytest

from consumers.jobs.asking import Counts

MINUTE = 1_800_000_000 // 60 * 60


def nobody(tmp_path):
    return Counts(f"unix://{tmp_path / 'nobody-listens.sock'}")


def test_processes_count_together(redis, settings):
    here, there = Counts(settings.REDIS_URL), Counts(settings.REDIS_URL)
    assert [here.add("ann", now=MINUTE, seconds=60), there.add("ann", now=MINUTE + 59, seconds=60)] == [1, 2]


def test_windows_and_names_count_apart(redis, settings):
    counts = Counts(settings.REDIS_URL)
    seen = [counts.add(name, now=MINUTE + at, seconds=60) for name, at in (("ann", 0), ("bob", 0), ("ann", 60))]
    assert seen == [1, 1, 1]


def test_what_was_counted_does_not_stay_in_redis(redis, settings):
    Counts(settings.REDIS_URL).add("ann", now=MINUTE, seconds=60)
    [key] = redis.keys()
    assert 0 < redis.ttl(key) <= 120


@pytest.mark.parametrize(("at", "counted"), [((0, 1, 2), [1, 2, 3]), ((0, 59, 60), [1, 2, 1])])
def test_without_redis_a_process_counts_alone(tmp_path, at, counted):
    counts = nobody(tmp_path)
    assert [counts.add("ann", now=MINUTE + second, seconds=60) for second in at] == counted


def test_redis_that_is_away_is_not_asked_each_time(tmp_path, caplog):
    counts = nobody(tmp_path)
    for second in (0, 1, 9, 11):
        counts.add("ann", now=MINUTE + second, seconds=60)
    assert caplog.text.count("Redis does not answer") == 2


def test_redis_that_is_back_counts_again(redis, settings):
    counts = Counts(settings.REDIS_URL)
    counts._away_until = MINUTE + 10.0
    assert counts.add("ann", now=MINUTE + 5, seconds=60) == 1
    assert not redis.keys()
    counts.add("ann", now=MINUTE + 10, seconds=60)
    assert len(redis.keys()) == 1


@pytest.mark.parametrize("with_redis", [True, False])
def test_what_was_counted_is_taken_back_or_forgotten(redis, settings, tmp_path, with_redis):
    counts, window = Counts(settings.REDIS_URL) if with_redis else nobody(tmp_path), {"now": MINUTE, "seconds": 60}
    counted = [counts.add("ann", **window) for _ in range(3)]
    counts.take_back("ann", **window)
    counted.append(counts.add("ann", **window))
    counts.forget("ann", **window)
    counted.append(counts.add("ann", **window))
    assert counted == [1, 2, 3, 3, 1]


def test_without_redis_windows_of_other_lengths_count_apart(tmp_path):
    counts = nobody(tmp_path)
    counted = [counts.add("ann", now=MINUTE + 60, seconds=seconds) for seconds in (300, 60, 300, 60)]
    assert counted == [1, 1, 2, 2]
