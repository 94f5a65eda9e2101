"""A real broker's dead letters, looked at and exported; and what RocketMQ's own compressors make is opened here."""

import csv
import io
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from consumers.dead_letters.inspection import MessagePlace, fetch_message
from consumers.jobs.hold import close_wires
from consumers.models import Broker, Cluster
from consumers.rocketmq.messages.bodies import Compression, opened_body
from dashboard.demo.cluster import RocketMQ
from tests.plugins.calling import JavaCallFailed
from tests.plugins.java_admin import JavaAdmin
from tests.world import a_group

pytestmark = [pytest.mark.live, pytest.mark.django_db]
GROUP, DEAD, LETTERS = "onlookers", "%DLQ%onlookers", 100
URL = f"/api/v1/groups/live/{GROUP}/dlq/export/"


@pytest.fixture(scope="module")
def dead(java_admin: JavaAdmin) -> int:
    """So many bodies of 3,000 bytes lie among the group's dead letters."""
    java_admin.create_topic(DEAD, 1)
    newest = -1
    while newest < LETTERS - 1:
        try:
            [newest] = java_admin.send(DEAD, "broker-a", 0, size=3000, tags="late")
        except JavaCallFailed as failure:
            # A busy machine's broker refuses a message now and then.
            if "broker busy" not in str(failure):
                raise
    return LETTERS


@pytest.fixture
def onlookers(rocketmq: RocketMQ) -> Iterator[None]:
    cluster = Cluster.objects.create(name="live", namesrv=rocketmq.namesrv, created_at=timezone.now())
    for name, broker in rocketmq.brokers.items():
        Broker.objects.create(cluster=cluster, name=name, broker_id=0, address=broker.address)
    a_group(cluster, GROUP)
    yield
    close_wires()


@pytest.mark.usefixtures("onlookers")
def test_a_look_shows_the_body_of_one(dead: int) -> None:
    look = fetch_message(MessagePlace("live", GROUP, "broker-a", 0, dead - 1), timezone.now(), with_content=True)
    assert look.body is not None
    assert (look.body.text, look.body.size) == ("x" * 3000, 3000)
    assert (look.message.offset, look.message.tags) == (dead - 1, "late")
    assert all(one.is_system for one in look.properties), look.properties


@pytest.mark.usefixtures("onlookers", "tasks_at_once")
def test_an_export_holds_every_letter(dead: int, api: Client, api_user: Any) -> None:
    api_user.is_superuser = True
    api_user.save()
    text = b"".join(api.get(URL, {"bodies": "1"}).streaming_content).decode()  # type: ignore[attr-defined]
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [(int(row["offset"]), row["body_text"]) for row in rows] == [(n, "x" * 3000) for n in range(dead)]
    lines = b"".join(api.get(URL, {"format": "jsonl"}).streaming_content).splitlines()  # type: ignore[attr-defined]
    assert [json.loads(line)["offset"] for line in lines] == list(range(dead))


BODIES = [b"", b"order 41", b"order 41, " * 20_000, random.Random(41).randbytes(200_000)]


@pytest.mark.parametrize("body", BODIES, ids=["empty", "short", "long", "random"])
@pytest.mark.parametrize(("kind", "flag"), [("ZLIB", 0x1), ("ZLIB", 0x301), ("LZ4", 0x101), ("ZSTD", 0x201)])
def test_what_rocketmqs_own_compressors_make_is_opened(
    java_admin: JavaAdmin, kind: str, flag: int, body: bytes
) -> None:
    opened = opened_body(java_admin.compressed(kind, body), flag, 1_000_000)
    assert (opened.content, opened.error, opened.compression) == (body, None, Compression(kind.lower()))
