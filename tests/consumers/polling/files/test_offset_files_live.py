"""Files that real brokers and a real client write, against what their memory holds and what was consumed."""

import asyncio
import time

import pytest
from django.utils import timezone

from consumers.lake import reader
from consumers.lake.store import Lake
from consumers.models import Cluster, OffsetFile
from consumers.polling.file_poller import FileLimits
from consumers.polling.members.membership import Budget
from consumers.polling.memory import Cadence
from consumers.polling.poll import ClusterPoller, PollSettings
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.wire.connection import ConnectionPool
from consumers.stores.files.read_file import read_offset_file

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

TOPIC, GROUP, CROWD = "FilesOrders", "files-billing", "files-crowd"
SENT = {0: 3, 1: 5}


def eventually(look, seconds=240):
    """The first answer of `look` that is not None."""
    deadline = time.monotonic() + seconds
    while (found := look()) is None:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    return found


def read(path):
    return read_offset_file(path, timezone.now(), 1 << 20, time.sleep, ("/",))


def offsets_of(rows, name="offset"):
    return sorted(zip(*(rows[column].to_pylist() for column in ("group", "topic", "queue_id", name)), strict=True))


def is_in(group, path):
    rows = read(path).rows
    return rows is not None and group in rows["group"].to_pylist()


def in_memory(address):
    async def ask():
        async with ConnectionPool() as pool:
            return await BrokerAdmin(pool, address).consumer_offsets()

    return offsets_of(asyncio.run(ask()), "consumer_offset")


def config_folder(cluster, broker="broker-a"):
    return cluster.brokers[broker].store / "config"


def poller_of(cluster, globs, tmp_path):
    row = Cluster.objects.create(
        name="files", namesrv=cluster.namesrv, created_at=timezone.now(), offset_files=";".join(globs)
    )
    lake = Lake.at(str(tmp_path / "lake"))
    limits = FileLimits(folders=("/",), seconds=0)
    return ClusterPoller(row, PollSettings(Cadence(0, 0), Budget(1000, 100), 5.0, lake, 0, files=limits))


@pytest.fixture(scope="module")
def consumed(rocketmq, java_admin):
    """A clustering member that has consumed everything and is gone, and a broadcasting one that is still there."""
    java_admin.create_topic(TOPIC, len(SENT))
    for queue_id, count in SENT.items():
        java_admin.send(TOPIC, "broker-a", queue_id, count)
    java_admin.start_consumer(GROUP, TOPIC, "files-1")
    java_admin.start_consumer(CROWD, TOPIC, "files-crowd", broadcasting=True)
    address = rocketmq.brokers["broker-a"].address
    wanted = {(GROUP, TOPIC, queue_id, count) for queue_id, count in SENT.items()}
    eventually(lambda: True if wanted <= set(in_memory(address)) else None)
    java_admin.stop_consumer("files-1")
    yield java_admin.folder / "rocketmq_offsets" / "127.0.0.1@files-crowd" / CROWD / "offsets.json"
    java_admin.stop_consumer("files-crowd")


def test_the_file_of_a_broker_holds_what_its_memory_held_when_it_was_written(rocketmq, consumed):
    address, path = rocketmq.brokers["broker-a"].address, config_folder(rocketmq) / "consumerOffset.json"

    def written_while_nothing_moved():
        before, since = in_memory(address), timezone.now()
        file = eventually(lambda: found if (found := read(path)).modified_at > since else None)
        return (before, file) if in_memory(address) == before else None

    memory, file = eventually(written_while_nothing_moved)
    assert (file.error, file.findings, file.from_backup) == (None, (), False)
    assert offsets_of(file.rows) == memory
    assert {(GROUP, TOPIC, queue_id, count) for queue_id, count in SENT.items()} <= set(memory)


def test_the_file_of_a_broadcasting_client_holds_what_it_consumed(consumed):
    wanted = [(CROWD, TOPIC, queue_id, count) for queue_id, count in SENT.items()]

    def whole():
        file = read(consumed)
        return file if file.rows is not None and offsets_of(file.rows) == wanted else None

    file = eventually(whole)
    assert (file.kind, file.client_id, file.group, file.findings) == (
        "consumer_file",
        "127.0.0.1@files-crowd",
        CROWD,
        (),
    )
    assert set(file.rows["broker"].to_pylist()) == {"broker-a"}


def test_a_poll_records_every_file_of_a_cluster(rocketmq, consumed, tmp_path):
    globs = [f"{config_folder(rocketmq)}/*Offset.json", f"{consumed.parents[1]}/*/offsets.json"]
    # A broker writes its file every five seconds.
    for path, group in ((config_folder(rocketmq) / "consumerOffset.json", GROUP), (consumed, CROWD)):
        eventually(lambda path=path, group=group: True if path.exists() and is_in(group, path) else None)
    poller = poller_of(rocketmq, globs, tmp_path)
    now = timezone.now()
    try:
        poller.poll(now)
    finally:
        poller.close()
    files = {file.kind: file for file in OffsetFile.objects.all()}
    assert {kind: (file.broker, file.error, file.read_at) for kind, file in files.items()} == {
        "broker_file": ("broker-a", None, now),
        "delay_file": ("broker-a", None, now),
        "consumer_file": (None, None, now),
    }
    stored = reader.read(poller.settings.lake, "stored_offsets", "files", now, timezone.now())
    assert sum(file.rows for file in files.values()) == stored.num_rows
    # The broker is shared with other tests, which may leave offsets of groups and topics that they deleted.
    assert {row["finding"] for row in stored.to_pylist() if row["group"] in (GROUP, CROWD)} == {None}


def test_a_file_edited_while_its_broker_is_down_is_found_before_the_broker_resumes_from_it(
    rocketmq_pair, java_admin_pair, tmp_path
):
    java_admin_pair.create_topic("FilesEdited", 1)
    java_admin_pair.create_group("files-edited")
    java_admin_pair.send("FilesEdited", "broker-b", 0, 9)
    java_admin_pair.set_offset("files-edited", "FilesEdited", "broker-b", 0, 7)
    path = config_folder(rocketmq_pair, "broker-b") / "consumerOffset.json"
    edited = ("files-edited", "FilesEdited", 0)

    def is_written():
        rows = read(path).rows
        return True if rows is not None and (*edited, 7) in offsets_of(rows) else None

    eventually(is_written)
    poller = poller_of(rocketmq_pair, [f"broker-b={path}"], tmp_path)
    try:
        poller.poll(timezone.now())
        rocketmq_pair.kill_broker("broker-b")
        before = path.read_text()
        path.write_text(
            before.replace('"FilesEdited@files-edited":{\n\t\t\t0:7', '"FilesEdited@files-edited":{\n\t\t\t0:3')
        )
        poller.poll(timezone.now())
    finally:
        poller.close()
    (finding,) = [one for one in OffsetFile.objects.get().findings if one["code"].startswith("went_back")]
    assert finding["where"] == "FilesEdited@files-edited queue 0"
    assert {name: finding["params"][name] for name in ("offset", "before", "messages")} == {
        "offset": 3,
        "before": 7,
        "messages": 4,
    }
    rocketmq_pair.start_broker("broker-b")
    assert (*edited, 3) in in_memory(rocketmq_pair.brokers["broker-b"].address)
