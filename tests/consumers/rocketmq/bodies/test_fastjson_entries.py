"""The entries of files, and where a file that is cut off ends."""

import pytest

from consumers.rocketmq.bodies.fastjson import Entries, Entry, MalformedJson, loads, loads_entries
from consumers.rocketmq.wire.codes import RemoteProtocolError


def test_a_key_that_stands_twice_is_two_entries():
    assert loads_entries(b'{"a":1,"a":2}') == [Entry("a", 1, 4), Entry("a", 2, 10)]


def test_an_object_is_told_from_a_list():
    entries = loads_entries(b'{"a":[],"b":{}}')
    assert [isinstance(entry.value, Entries) for entry in entries] == [False, True]


def test_an_object_as_a_key_is_sorted_pairs():
    (entry,) = loads_entries(b'{{"queueId":3,"brokerName":"a"}:7}')
    assert (entry.key, entry.value) == ((("brokerName", "a"), ("queueId", 3)), 7)


@pytest.mark.parametrize("body", [b'{{"a":1,"a":2}:7}', b"{{0:1}:7}", b'{{"a":[]}:7}', b'{{"a":{}}:7}'])
def test_a_key_that_cannot_be_one_is_refused(body):
    with pytest.raises(MalformedJson):
        loads_entries(body)


WHOLE = b'{ "a\\"b" : { 0 : -10 , 1 : true , 2 : null } }'


@pytest.mark.parametrize("length", range(len(WHOLE)))
@pytest.mark.parametrize("read", [loads, loads_entries])
def test_every_beginning_of_a_text_is_cut_off(read, length):
    with pytest.raises(MalformedJson) as raised:
        read(WHOLE[:length])
    assert raised.value.cut_off


@pytest.mark.parametrize("body", [b"{} x", b'{"a" 1}', b'{"a":1 "b":2}', b'{"a":}', b'{"a":01}', b"}"])
def test_a_text_that_is_wrong_in_its_middle_is_not_cut_off(body):
    with pytest.raises(MalformedJson) as raised:
        loads_entries(body)
    assert not raised.value.cut_off


def test_what_is_no_text_is_refused():
    with pytest.raises(RemoteProtocolError, match="not UTF-8 at byte 1"):
        loads_entries(b"{\xff}")
