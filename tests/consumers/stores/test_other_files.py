"""`delayOffset.json` of brokers and `offsets.json` of broadcasting clients."""

import pytest

from tests.consumers.stores.stored_samples import DATA, in_words, read, rows, write

QUEUE = '{"brokerName":"broker-a","queueId":0,"topic":"Orders"}'
CLIENT = "10.0.0.1@crowd-1/crowd/offsets.json"


def in_table(table: str) -> bytes:
    return f'{{\n"offsetTable":{{\n{table}}}}}'.encode()


def test_a_real_delay_file_is_read():
    file = read(DATA / "delayOffset.json")
    assert (file.kind, file.findings) == ("delay_file", ())
    assert rows(file) == [
        (None, "SCHEDULE_TOPIC_XXXX", level - 1, offset) for level, offset in ((3, 11), (4, 11), (5, 0))
    ]


@pytest.mark.parametrize(
    ("table", "queue_id", "sentence"),
    [
        ("0:7", None, "delay levels begin with 1"),
        ("-3:7", None, "the delay level -3 is out of range"),
        ('"x":7', None, "the delay level is a text, not a whole number"),
        ("3:7,3:7", 2, "occurs more than once"),
        ('"\\ud800":7', None, "the delay level is a text, not a whole number"),
    ],
)
def test_a_wrong_delay_level_is_named(tmp_path, table, queue_id, sentence):
    file = read(write(tmp_path, in_table(table), "delayOffset.json"))
    assert rows(file, "queue_id", "offset") == [(queue_id, 7)]
    assert sentence in in_words(file.findings[0])


def test_a_real_broadcasting_clients_file_is_read(tmp_path):
    path = write(tmp_path, (DATA / "offsets.json").read_bytes(), "127.0.0.1@crowd-1/crowd/offsets.json")
    file = read(path)
    assert (file.kind, file.client_id, file.group, file.findings) == ("consumer_file", "127.0.0.1@crowd-1", "crowd", ())
    assert rows(file, "client_id", "group", "topic", "broker", "queue_id", "offset") == [
        ("127.0.0.1@crowd-1", "crowd", "Orders", "broker-a", n, 3 + 2 * n) for n in (3, 2, 1, 0)
    ]


@pytest.mark.parametrize(
    ("table", "row", "sentence"),
    [
        ('{"queueId":0,"topic":"Orders"}:7', ("Orders", None, 0, 7), "the key has no brokerName"),
        ('{"brokerName":"\\ud800","queueId":0,"topic":"T"}:7', ("T", None, 0, 7), "the key has no brokerName"),
        ('{"brokerName":"a","queueId":"\\ud800","topic":"T"}:7', ("T", "a", None, 7), "not a whole number"),
        ('{"brokerName":"a","queueId":0}:7', (None, "a", 0, 7), "the key has no topic"),
        ('{"brokerName":"a","topic":"Orders"}:7', ("Orders", "a", None, 7), "the key has no queueId"),
        ('"Orders@crowd":7', (None, None, None, None), "a text, not a queue"),
        (f"{QUEUE}:-7", ("Orders", "broker-a", 0, -7), "is below zero"),
        (f"{QUEUE}:1,{QUEUE}:2", ("Orders", "broker-a", 0, 2), "occurs more than once, first with 1"),
    ],
)
def test_a_wrong_queue_is_named_with_its_line(tmp_path, table, row, sentence):
    file = read(write(tmp_path, in_table(table), CLIENT))
    assert rows(file, "topic", "broker", "queue_id", "offset") == [row]
    assert sentence in in_words(file.findings[0])
    assert file.findings[0].where.startswith("line 3")


def test_a_file_outside_a_clients_folder_has_no_owner(tmp_path):
    file = read(write(tmp_path, in_table(f"{QUEUE}:7"), "copies/today/offsets.json"))
    assert (file.client_id, file.group, rows(file, "group")) == (None, None, [(None,)])
    assert [finding.name for finding in file.findings] == ["owner_unnamed"]
