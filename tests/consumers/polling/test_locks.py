"""Locks over all processes: with Redis, without it, and with one that hangs or forgets."""

import contextlib
import socket
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from consumers.models import Lease
from consumers.polling.lease_holder import is_gone, new_holder
from consumers.polling.locks import Locked, lock

PROJECT = Path(__file__).resolve().parents[3]
HOLD = "from consumers.polling.lease_holder import new_holder; print(new_holder())"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def redis_is_down(settings, tmp_path):
    settings.REDIS_URL = f"unix://{tmp_path / 'nobody-listens.sock'}"


def eventually(holds):
    give_up = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < give_up
        time.sleep(0.05)


def is_lost(held):
    try:
        held.check()
    except Locked:
        return True
    return False


def test_it_refuses_a_second_holder():
    with lock("poll:prod", 60), pytest.raises(Locked), lock("poll:prod", 60):
        pass


def test_it_lets_another_name_in():
    with lock("poll:prod", 60), lock("poll:test", 60):
        assert Lease.objects.count() == 2


def test_it_is_free_again_after_the_block_failed():
    with pytest.raises(ValueError, match="broken"), lock("poll:prod", 60):
        raise ValueError("broken")
    with lock("poll:prod", 60):
        assert Lease.objects.get().name == "poll:prod"


def test_it_takes_over_a_lease_that_has_expired():
    Lease.objects.create(name="poll:prod", holder="dead", expires_at=datetime(2020, 1, 1, tzinfo=UTC))
    with lock("poll:prod", 60):
        assert Lease.objects.get().holder != "dead"


def test_a_lease_with_more_time_left_than_it_was_taken_for_is_void():
    ahead = timezone.now() + timedelta(hours=1, seconds=60)
    Lease.objects.create(name="poll:prod", holder="elsewhere", expires_at=ahead, seconds=60)
    with lock("poll:prod", 60):
        assert Lease.objects.get().holder != "elsewhere"


def test_a_lease_that_was_taken_for_longer_holds():
    Lease.objects.create(
        name="pipeline", holder="elsewhere", expires_at=timezone.now() + timedelta(hours=1), seconds=3600
    )
    with pytest.raises(Locked), lock("pipeline", 60):
        pass


def test_redis_refuses_nobody_for_a_dead_holder_whose_time_a_clock_set_back_has_made_longer(redis):
    redis.set("consumerscope:poll:prod", "dead", px=3_660_000)
    with lock("poll:prod", 60):
        assert Lease.objects.get().name == "poll:prod"


def test_a_lock_of_redis_that_was_taken_for_longer_holds(redis):
    with lock("pipeline", 3600), pytest.raises(Locked), lock("pipeline", 60):
        pass


def test_a_redis_that_hangs_is_as_good_as_none(settings, monkeypatch):
    monkeypatch.setattr("consumers.polling.locks.REDIS_ANSWER_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        settings.REDIS_URL = f"redis://127.0.0.1:{silent.getsockname()[1]}/0"
        with lock("poll:prod", 60), pytest.raises(Locked), lock("poll:prod", 60):
            pass
        assert not Lease.objects.exists()


def test_a_redis_that_was_started_anew_lets_no_second_one_in(redis):
    with lock("poll:prod", 60):
        redis.flushall()
        with pytest.raises(Locked), lock("poll:prod", 60):
            pass
    with lock("poll:prod", 60):
        pass


def test_redis_refuses_without_a_look_at_the_database(redis, django_assert_num_queries):
    with lock("poll:prod", 60), django_assert_num_queries(0), pytest.raises(Locked), lock("poll:prod", 60):
        pass


@pytest.mark.django_db(transaction=True)
def test_a_lease_that_could_not_be_given_back_is_had_by_the_next_that_asks():
    def disk_is_full(execute, sql, *rest):
        if sql.startswith("DELETE"):
            raise OperationalError("database or disk is full")
        return execute(sql, *rest)

    kept = contextlib.ExitStack()
    kept.enter_context(lock("pipeline", 600))
    with connection.execute_wrapper(disk_is_full):
        kept.close()
    assert Lease.objects.exists()
    with lock("pipeline", 600), pytest.raises(Locked), lock("pipeline", 600):
        pass
    assert not Lease.objects.exists()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux tells whether a process is there")
def test_a_process_that_is_gone_holds_nothing():
    ended = subprocess.run([sys.executable, "-c", HOLD], cwd=PROJECT, capture_output=True, text=True, check=True)
    for holder, gone in ((ended.stdout.strip(), True), (new_holder(), False), (f"elsewhere:{new_holder()}", False)):
        Lease.objects.all().delete()
        Lease.objects.create(name="poll:prod", holder=holder, expires_at=datetime(2100, 1, 1, tzinfo=UTC))
        with contextlib.nullcontext() if gone else pytest.raises(Locked), lock("poll:prod", 60):
            assert Lease.objects.get().holder != holder


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux tells whether a process is there")
def test_a_process_that_was_killed_leaves_no_lock_in_redis_either(redis):
    ended = subprocess.run([sys.executable, "-c", HOLD], cwd=PROJECT, capture_output=True, text=True, check=True)
    for holder, gone in ((ended.stdout.strip(), True), (new_holder(), False), ("of an older version", False)):
        redis.set("consumerscope:pipeline", holder, ex=600)
        with contextlib.nullcontext() if gone else pytest.raises(Locked), lock("pipeline", 600):
            assert redis.get("consumerscope:pipeline").decode() != holder
    assert redis.get("consumerscope:pipeline") == b"of an older version"


def test_a_number_that_another_process_has_by_now_is_not_the_holder():
    place, pid, started, lease = new_holder().split(":")
    assert is_gone(f"{place}:{pid}:{int(started) + 1}:{lease}")
    assert not is_gone(f"{place}:{pid}:{started}:{lease}")


@pytest.mark.django_db(transaction=True)
def test_a_lock_that_is_renewed_lasts_as_long_as_its_block():
    with lock("poll:prod", 3, renewed=True) as held:
        taken_until = Lease.objects.get().expires_at
        eventually(lambda: timezone.now() > taken_until)
        held.check()
        with pytest.raises(Locked), lock("poll:prod", 3):
            pass
    assert not Lease.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_whoever_lost_the_lock_is_told_before_it_does_any_more():
    with lock("poll:prod", 0.6, renewed=True) as held:
        Lease.objects.update(holder="another")
        eventually(lambda: is_lost(held))
        with pytest.raises(Locked, match="took too long"):
            held.check()
    assert Lease.objects.get().holder == "another"
