"""What fastjson writes, and what nobody may write."""

from collections.abc import Callable

import pytest

from consumers.rocketmq.bodies.fastjson import MAX_DEPTH, loads, loads_plain
from consumers.rocketmq.wire.codes import RemoteProtocolError

QUEUE = (("brokerName", "broker-a"), ("queueId", 3), ("topic", "T"))


@pytest.mark.parametrize(
    ("body", "value"),
    [
        pytest.param(b"{0:10,1:11,-1:2}", {0: 10, 1: 11, -1: 2}, id="keys that are numbers"),
        pytest.param(
            b'{{"topic":"T","queueId":3,"brokerName":"broker-a"}:{"brokerOffset":11}}',
            {QUEUE: {"brokerOffset": 11}},
            id="a key that is an object, its fields in any order",
        ),
        pytest.param(b'{"0":1,0:2}', {"0": 1, 0: 2}, id="a text and a number are different keys"),
        pytest.param(b'[true,false,null,"",{},[]]', [True, False, None, "", {}, []], id="every plain value"),
        pytest.param(b"[0,-0,12,9223372036854775807]", [0, 0, 12, 2**63 - 1], id="whole numbers"),
        pytest.param(b"[0.06,-1.5e3,1E2,0.0]", [0.06, -1500.0, 100.0, 0.0], id="other numbers"),
        pytest.param(rb'"a\"b\\c\/d\u00e9\n"', 'a"b\\c/dé\n', id="escapes"),
        pytest.param(rb'{"a\tb":{"x\"y":1}}', {"a\tb": {'x"y': 1}}, id="escapes in keys"),
        pytest.param('"Größe 消费"'.encode(), "Größe 消费", id="text that is not ASCII"),
        pytest.param(b'"{0:1},[2]"', "{0:1},[2]", id="marks within a text"),
        pytest.param(
            b' {\n\t"a" : { 0 : 1 , 1 : 2 } ,\r\n"b":[ 1 , 2 ] } ', {"a": {0: 1, 1: 2}, "b": [1, 2]}, id="spaces"
        ),
        pytest.param(b"7", 7, id="a number alone"),
    ],
)
def test_it_reads(body: bytes, value: object) -> None:
    assert loads(body) == value


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"  ",
        b"{",
        b"{0",
        b"{0:",
        b"{0:1",
        b"{0:1,",
        b"{0:1,}",
        b"{,}",
        b"{0 1}",
        b"{0:1 1:2}",
        b"{0:1]",
        b"[1}",
        b"[1,]",
        b"[,1]",
        b"[1 2]",
        b"]",
        b":",
        b"{0:1}}",
        b"{0:1}{0:1}",
        b"{a:1}",
        b"{true:1}",
        b"{1.5:1}",
        b"{[0]:1}",
        b'{{"a":[]}:1}',
        b'{{"a":{}}:1}',
        b"{{0:1}:1}",
        b"'a'",
        b'"a',
        b'"a\nb"',
        b'"a\x00b"',
        rb'"\x41"',
        rb'"\u12"',
        b'"\xff"',
        b"\xef\xbb\xbf{}",
        b"01",
        b"1.",
        b".5",
        b"1e",
        b"+1",
        b"--1",
        b"1e999",
        b"NaN",
        b"Infinity",
        b"tru",
        b"truefalse",
        b"nulL",
        b"1" * 5000,
    ],
)
def test_it_refuses(body: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        loads(body)


def test_it_says_where_a_body_goes_wrong() -> None:
    with pytest.raises(RemoteProtocolError, match="at character 7"):
        loads(b'{"a":1,x:2}')


def test_it_refuses_a_key_that_comes_twice() -> None:
    with pytest.raises(RemoteProtocolError, match="a second time"):
        loads(b"{0:1,0:2}")


def test_it_reads_as_many_levels_as_it_says() -> None:
    assert loads(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)


@pytest.mark.parametrize("count", [MAX_DEPTH + 1, 100_000])
@pytest.mark.parametrize("opening", [b"[", b'{"a":', b"{"])
def test_it_refuses_more_levels_than_it_says(opening: bytes, count: int) -> None:
    with pytest.raises(RemoteProtocolError, match="levels"):
        loads(opening * count)


def test_the_plain_reader_reads_standard_json() -> None:
    assert loads_plain('{"a":[1,0.5,"ü"]}'.encode()) == {"a": [1, 0.5, "ü"]}


@pytest.mark.parametrize("body", [b"", b"{0:1}", b"[NaN]", b"[-Infinity]", b'"\xff"', b"[" * 100_000, b"1" * 5000])
def test_the_plain_reader_refuses(body: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        loads_plain(body)


@pytest.mark.parametrize("read", [loads, loads_plain])
@pytest.mark.parametrize("text", [r"half \ud800 a pair", r"\udfff", r"a \u0000 in it"])
@pytest.mark.parametrize("body", ['"%s"', '{"a":[{"%s":1}]}', '["%s"]'])
def test_what_no_database_keeps_as_text_is_refused(read: Callable[[bytes], object], text: str, body: str) -> None:
    with pytest.raises(RemoteProtocolError, match="half of a character, or a NUL, in a text"):
        read((body % text).encode())


@pytest.mark.parametrize("read", [loads, loads_plain])
@pytest.mark.parametrize(("text", "value"), [(r"\ud83d\ude00", "\U0001f600"), (r"\\u0000", r"\u0000")])
def test_a_whole_pair_and_what_only_looks_like_an_escape_are_text(
    read: Callable[[bytes], object], text: str, value: str
) -> None:
    assert read(f'{{"a":"{text}"}}'.encode()) == {"a": value}


def test_it_is_refused_in_a_key_that_is_an_object_too() -> None:
    with pytest.raises(RemoteProtocolError, match="half of a character"):
        loads(rb'{{"topic":"half \ud800"}:{"brokerOffset":11}}')
