"""Hundreds of messages that fail, die and are redelivered by a crash: what is told of each is what members wrote down,
never more than that is certain, and never less possible."""

import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from dashboard.demo.cluster import RocketMQ
from tests.consumers.repeats.conftest import POLL_SECONDS, evaluated, polled_site
from tests.consumers.repeats.night import NightGroup
from tests.consumers.repeats.scripted import COMMIT_SECONDS, FIRST_COMMIT_SECONDS, Night, noting_processes, owners
from tests.consumers.resetting.live_site import Site
from tests.plugins.java_admin import JavaAdmin

__all__ = ["evaluated"]
pytestmark = [
    pytest.mark.live,
    pytest.mark.spark,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("tasks_at_once"),
    pytest.mark.timeout(1500),
]

STAYING, DYING, BROKER = "staying", "dying", "broker-a"
# Each retry comes after a second; the third would, and is the dead letter.
CONFIG, RETRIES = {"messageDelayLevel": "1s 1s 1s 1s 1s" + 13 * " 1h"}, 2
# Of a queue's messages every third fails once, and every seventh always.
FAILS = {"fails_every": 3, "dies_every": 7}
MANY = NightGroup(
    "attempts", 4, 150, BROKER, seconds=(0.1, 0.3), behaviour=FAILS, membership={"max_reconsume_times": RETRIES}
)
LOOKED_UP = 240


@pytest.fixture
def rocketmq_short(rocketmq_jars: Path, tmp_path: Path) -> Iterator[RocketMQ]:
    with RocketMQ(tmp_path / "rocketmq", rocketmq_jars, config=CONFIG) as cluster:
        yield cluster


@pytest.fixture
def played(
    rocketmq_short: RocketMQ, rocketmq_jars: Path, api: Client, api_user: User, tmp_path: Path, settings: Any
) -> Iterator[Night]:
    settings.CONSUMERSCOPE_LAKE, settings.API_RATE = str(tmp_path / "lake"), 0
    api_user.user_permissions.add(Permission.objects.get(codename="view_message_body"))
    namesrv = rocketmq_short.namesrv
    with (
        JavaAdmin(rocketmq_short, rocketmq_jars) as admin,
        noting_processes(namesrv, rocketmq_jars, tmp_path, (STAYING, DYING)) as started,
        polled_site(rocketmq_short, admin, api, tmp_path / "lake", [BROKER]) as site,
    ):
        admin.create_topic(MANY.topic, MANY.queues)
        admin.create_group(MANY.group)
        yield Night(site, admin, started, STAYING)


def deliveries(night: Night) -> dict[str, Counter[int]]:
    """By message, how often it was delivered with each number of reconsume times."""
    found: dict[str, Counter[int]] = defaultdict(Counter)
    for one in night.deliveries():
        found[one.unique_key][one.reconsume_times] += 1
    return found


def are_all_done(night: Night) -> bool:
    """Of each queue as many were delivered once, twice and until they died, as fail so often."""
    numbers = range(MANY.each)
    dead = sum(number % FAILS["dies_every"] == 0 for number in numbers)
    failed = sum(number % FAILS["fails_every"] == 0 and number % FAILS["dies_every"] != 0 for number in numbers)
    wanted = {0: MANY.each - dead - failed, 1: failed, RETRIES: dead}
    furthest = Counter(max(times) for times in deliveries(night).values())
    return all(furthest[times] == MANY.queues * count for times, count in wanted.items())


def is_retry_committed(night: Night) -> bool:
    retry = f"%RETRY%{MANY.group}"
    offsets = night.site.offsets(MANY.group, retry)
    return bool(offsets) and offsets[BROKER, 0] == night.admin.queue_end(retry, BROKER, 0)


def told(site: Site, api: Client, key: str) -> dict[str, Any]:
    answer = api.get(f"/api/v1/groups/{site.cluster}/{MANY.group}/messages/{key}/attempts/")
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


def test_the_attempts_of_hundreds_of_messages_are_the_deliveries_written_down(
    played: Night, evaluated: Callable[[str, str], None], api: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, process in ((1, DYING), (2, STAYING)):
        played.start(process, MANY, number, behaviour=FAILS)
    played.until(lambda: len(owners(MANY)) == 2, "the members do not share the queues")
    played.rest(FIRST_COMMIT_SECONDS)
    played.send(MANY)
    played.until(lambda: len(deliveries(played)) > MANY.each, "little was consumed")
    # What a member took and lost between two polls, these cannot tell: one sees it at work, however fast the machine.
    played.rest(POLL_SECONDS)
    played.processes[DYING].kill()
    played.until(lambda: are_all_done(played), "not every retry came")
    played.until(lambda: played.is_committed(MANY) and is_retry_committed(played), "not everything was committed")
    played.rest(COMMIT_SECONDS + 2 * POLL_SECONDS)
    evaluated(played.first, played.last)

    truth, looked_up = deliveries(played), time.monotonic()
    again = [key for key, times in truth.items() if max(times.values()) > 1]
    chosen = random.Random(11).sample(sorted(truth), LOOKED_UP)
    chosen = sorted({*chosen, *again[: LOOKED_UP // 4]})
    exact = more_certain = 0
    for key in chosen:
        answer, times = told(played.site, api, key), truth[key]
        [message] = answer["messages"]
        copies = Counter(one["reconsume_times"] for one in answer["attempts"] if one["kind"] in ("original", "retry"))
        assert copies.keys() == times.keys(), (key, times, message["sentence"])
        assert all(copies[one] <= times[one] for one in times), (key, times, copies)
        listed = sum(one["times"] for one in message["deliveries"])
        assert message["deliveries_low"] <= times.total() <= listed, (key, times, message["sentence"])
        dead = [one for one in answer["attempts"] if one["kind"] == "dead_letter"]
        assert bool(dead) == (max(times) == RETRIES), (key, answer["attempts"])
        exact += message["deliveries_low"] == times.total()
        more_certain += message["deliveries_low"] > times.total()
        if key not in again:
            assert copies == times, (key, times, copies)
            assert message["deliveries_low"] == times.total(), (key, times, message["sentence"])
    seconds = time.monotonic() - looked_up
    with capsys.disabled():
        print(
            f"\n{len(chosen)} messages of {len(truth)}, {len(again)} of them redelivered by the crash: {exact} exact, "
            f"{len(chosen) - exact} with less certain, {more_certain} with more; {seconds:.0f} s"
        )
    assert again, "the crash redelivered nothing"
