"""A cluster's offset files, from the disk to the rows, held against what was read of the cluster meanwhile."""

import os

import pytest

from consumers.lake.store import Lake
from consumers.models import Client, OffsetFile
from consumers.polling.file_poller import FileLimits, OffsetFilePoller
from consumers.polling.memory import ClusterMemory
from consumers.rocketmq.bodies.config_bodies import GroupConfig, TopicConfig
from consumers.words.offset_files import problem_words
from tests.consumers.stores.stored_samples import broker_file, write
from tests.readings import at, broker, reading, row
from tests.world import a_cluster, a_group

pytestmark = pytest.mark.django_db

ORDERS = broker_file('"Orders@billing":{0:7}')


@pytest.fixture
def lake(tmp_path):
    return Lake.at(str(tmp_path / "lake"))


@pytest.fixture
def place(tmp_path):
    """Writes a file of the cluster, as if at `seconds`."""

    def put(body, name="a/consumerOffset.json", seconds=0):
        path = write(tmp_path / "disk", body, name)
        os.utime(path, (at(seconds).timestamp(),) * 2)
        return path

    return put


@pytest.fixture
def cluster(tmp_path):
    return a_cluster(offset_files=f"broker-a={tmp_path}/disk/a/*Offset.json;{tmp_path}/disk/clients/*/*/offsets.json")


@pytest.fixture
def memory():
    """The configuration of broker-a: the topic Orders, the groups billing and crowd."""
    memory = ClusterMemory()
    known = memory.broker("broker-a", "127.0.0.1:1")
    known.topics = {"Orders": topic("Orders")}
    known.groups = {name: group(name) for name in ("billing", "crowd")}
    known.configured_at = at(0)
    return memory


def topic(name):
    return TopicConfig(**dict.fromkeys(TopicConfig.__dataclass_fields__) | {"name": name, "read_queues": 4})


def group(name):
    return GroupConfig(**dict.fromkeys(GroupConfig.__dataclass_fields__) | {"name": name})


def poll(poller, memory, lake, seconds, consumer_offset=7):
    poller.begin(at(seconds))
    return poller.finish(
        reading(seconds, broker("broker-a", row("billing", "Orders", 0, consumer_offset, 9))), memory, lake
    )


def findings(path_end):
    (file,) = [file for file in OffsetFile.objects.all() if file.path.endswith(path_end)]
    return [finding["code"].partition(".")[0] for finding in file.findings]


def test_a_healthy_file_is_recorded_without_a_finding(cluster, memory, lake, place):
    path = place(ORDERS)
    poll(OffsetFilePoller(cluster, FileLimits(folders=("/",))), memory, lake, 1)
    file = OffsetFile.objects.get(path=str(path))
    assert (file.broker, file.rows, file.read_at, file.error, file.findings) == ("broker-a", 1, at(1), None, [])


def test_an_offset_edited_backwards_is_found_at_the_next_reading(cluster, memory, lake, place):
    poller = OffsetFilePoller(cluster, FileLimits(folders=("/",)))
    place(ORDERS)
    poll(poller, memory, lake, 1)
    place(broker_file('"Orders@billing":{0:3}'), seconds=60)
    poll(poller, memory, lake, 61)
    assert findings("consumerOffset.json") == ["went_back"]


def test_an_offset_that_was_taken_out_is_found_at_the_next_reading(cluster, memory, lake, place):
    poller = OffsetFilePoller(cluster, FileLimits(folders=("/",)))
    place(ORDERS)
    poll(poller, memory, lake, 1)
    place(broker_file(""), seconds=60)
    poll(poller, memory, lake, 61)
    assert findings("consumerOffset.json") == ["vanished"]


def test_a_process_that_was_started_anew_finds_it_too(cluster, memory, lake, place):
    place(ORDERS)
    poll(OffsetFilePoller(cluster, FileLimits(folders=("/",))), memory, lake, 1)
    place(broker_file('"Orders@billing":{0:3}'), seconds=60)
    poll(OffsetFilePoller(cluster, FileLimits(folders=("/",))), memory, lake, 61)
    assert findings("consumerOffset.json") == ["went_back"]


def test_a_file_below_the_memory_of_the_last_reading_is_found(cluster, memory, lake, place):
    poller = OffsetFilePoller(cluster, FileLimits(folders=("/",)))
    place(broker_file('"Orders@billing":{0:3}'))
    poll(poller, memory, lake, 1)
    place(broker_file('"Orders@billing":{0:3}'), seconds=60)
    poll(poller, memory, lake, 61)
    assert findings("consumerOffset.json") == ["behind_memory"]


def test_names_that_the_cluster_has_not_are_found(cluster, memory, lake, place):
    place(broker_file('"Payments@billing":{0:7},"Orders@bilking":{0:7}'))
    poll(OffsetFilePoller(cluster, FileLimits(folders=("/",))), memory, lake, 1)
    assert findings("consumerOffset.json") == ["unknown_topic", "unknown_group"]


def test_names_are_not_judged_by_a_broker_that_was_never_read(cluster, lake, place):
    place(broker_file('"Payments@bilking":{0:7}'))
    poll(OffsetFilePoller(cluster, FileLimits(folders=("/",))), ClusterMemory(), lake, 1)
    assert findings("consumerOffset.json") == []


CLIENT = b'{"offsetTable":{{"brokerName":"broker-a","queueId":0,"topic":"Orders"}:5}}'
OF_CLIENT = "clients/10.0.0.1@c/crowd/offsets.json"


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"membership_at": at(1000)}, ["left_behind"]),
        ({"membership_at": at(1000), "membership_error": "broker-b: refused"}, ["stale"]),
        ({"membership_at": at(0)}, ["stale"]),
        ({"membership_at": None}, ["stale"]),
    ],
    ids=["asked", "not by all", "long ago", "never"],
)
def test_a_file_is_left_behind_where_a_whole_list_of_members_says_so(cluster, memory, lake, place, fields, found):
    a_group(cluster, "crowd", message_model="BROADCASTING", **fields)
    place(CLIENT, OF_CLIENT)
    poll(OffsetFilePoller(cluster, FileLimits(folders=("/",))), memory, lake, 1001)
    assert findings(OF_CLIENT) == found


@pytest.mark.parametrize(("gone_by", "found"), [(None, ["stale"]), (at(900), ["left_behind"])])
def test_a_file_of_a_member_is_not_left_behind(cluster, memory, lake, place, gone_by, found):
    crowd = a_group(cluster, "crowd", message_model="BROADCASTING", membership_at=at(1000))
    times = {"seen_since": at(0), "last_seen": at(1), "gone_by": gone_by}
    Client.objects.create(group=crowd, client_id="10.0.0.1@c", address="a", language="JAVA", **times)
    place(CLIENT, OF_CLIENT)
    poll(OffsetFilePoller(cluster, FileLimits(folders=("/",))), memory, lake, 1001)
    assert findings(OF_CLIENT) == found


def test_files_are_read_when_they_are_due_only(cluster, memory, lake, place):
    poller = OffsetFilePoller(cluster, FileLimits(folders=("/",), seconds=60))
    place(ORDERS)
    assert [poll(poller, memory, lake, seconds) is not None for seconds in (0, 15, 59, 60)] == [
        True,
        False,
        False,
        True,
    ]


def test_a_cluster_without_globs_forgets_its_files(cluster, memory, lake, place):
    place(ORDERS)
    poll(OffsetFilePoller(cluster, FileLimits(folders=("/",))), memory, lake, 1)
    cluster.offset_files = ""
    assert poll(OffsetFilePoller(cluster, FileLimits(folders=("/",))), memory, lake, 61) is None
    assert not OffsetFile.objects.exists()


def test_a_reading_that_takes_too_long_is_said_and_harms_nothing(cluster, memory, lake, tmp_path):
    # A file that is not there is looked for again, for most of a second.
    cluster.offset_files = f"{tmp_path}/consumerOffset.json"
    assert poll(OffsetFilePoller(cluster, FileLimits(folders=("/",), deadline_seconds=0)), memory, lake, 1) is None
    assert problem_words(OffsetFile.objects.get().error).startswith("Not read within 0 s")
