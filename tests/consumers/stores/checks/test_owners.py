"""Which broker a file is of; nobody guesses."""

import pytest

from consumers.stores.checks import assign_brokers
from tests.consumers.stores.stored_samples import a_failed_file, a_file, names

A, B = "/data/a/consumerOffset.json", "/data/b/consumerOffset.json"
ONE, TWO = frozenset({"broker-a"}), frozenset({"broker-a", "broker-b"})


def assigned(files, named, brokers):
    return [(file.broker, names(file)) for file in assign_brokers(files, named, brokers)]


def test_a_named_broker_is_taken():
    assert assigned([a_file(path=A), a_file(path=B)], {A: "broker-a", B: "broker-b"}, None) == [
        ("broker-a", []),
        ("broker-b", []),
    ]


@pytest.mark.parametrize("brokers", [None, TWO, frozenset()])
def test_no_broker_is_inferred_unless_there_is_one(brokers):
    assert assigned([a_file(path=A)], {}, brokers) == [(None, ["broker_unnamed"])]


def test_the_only_broker_of_a_cluster_is_inferred():
    assert assigned([a_file(path=A)], {A: None}, ONE) == [("broker-a", [])]


def test_two_files_cannot_both_be_of_the_only_broker():
    assert assigned([a_file(path=A), a_file(path=B)], {}, ONE) == [(None, ["broker_unnamed"])] * 2


def test_a_second_file_is_not_of_the_broker_that_has_one_by_name():
    assert assigned([a_file(path=A), a_file(path=B)], {A: "broker-a"}, ONE)[1] == (None, ["broker_unnamed"])


def test_the_two_files_of_one_broker_do_not_stand_against_each_other():
    delays = a_file(path="/data/a/delayOffset.json", kind="delay_file")
    assert assigned([a_file(path=A), delays], {}, ONE) == [("broker-a", []), ("broker-a", [])]


def test_two_files_of_one_name_are_told():
    found = [("broker-a", ["broker_named_twice"])] * 2
    assert assigned([a_file(path=A), a_file(path=B)], {A: "broker-a", B: "broker-a"}, TWO) == found


def test_a_clients_file_has_no_broker():
    client = a_file(path="/data/1@c/g/offsets.json", kind="consumer_file")
    assert assigned([client], {str(client.path): "broker-a"}, ONE) == [(None, [])]


def test_a_file_that_was_not_read_is_of_the_same_broker():
    assert assigned([a_failed_file(path=A)], {A: "broker-a"}, TWO) == [("broker-a", [])]
