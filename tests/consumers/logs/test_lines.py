"""One line to what it tells, for every kind, layout and version."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, strategies as st

from consumers.logs.parse.headers import LogForm, Zones, last_line
from consumers.logs.parse.parser import FAMILIES_OF, LONGEST_LINE, LogParser, RunMerger
from consumers.vocabulary.logs import LogCode, LogRole
from tests.consumers.logs.made_lines import AT_4, AT_5, AT_BROKER, MADE, MQ
from tests.consumers.logs.real_lines import REAL, RECORDED, UTC_ZONE, told_by

NAMED = Zones(ZoneInfo("Europe/Berlin"), UTC)
ADDED = b"doRebalance, g, add a new mq, " + MQ


def client(body, zones=UTC_ZONE):
    return LogParser(LogRole.CLIENT, zones).parse(body)


def time(line, zones=UTC_ZONE):
    [found] = client(line + b"\n", zones).found
    return datetime.fromtimestamp(found.at / 1000, UTC)


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_lines_tell_what_happened(name):
    role, expected = RECORDED[name]
    assert told_by(role, (REAL / name).read_bytes()) == expected


@pytest.mark.parametrize(("role", "line", "expected"), MADE, ids=[line[50:110].decode() for _, line, _ in MADE])
def test_a_line_of_each_other_statement_tells_what_it_says(role, line, expected):
    assert told_by(role, line + b"\n") == [expected]


def test_every_kind_of_line_is_among_the_samples():
    told = [one[0] for _, rows in RECORDED.values() for one in rows] + [one[0] for _, _, one in MADE]
    assert set(told) == set(LogCode)
    assert {line.code for families in FAMILIES_OF.values() for one in families for line in one.lines} == set(LogCode)


def test_lines_that_say_nothing_of_consumption_are_counted_and_not_unknown():
    body = AT_5 + b"send heart beat to broker[broker-a 0 127.0.0.1:10911] success\n" + b"\tat a.b.C.d(C.java:1)\n"
    parsed = client(body)
    assert (parsed.lines, parsed.found, parsed.unknown) == (2, [], 0)


def test_known_lines_of_a_family_that_tell_nothing_are_not_unknown():
    parsed = client(AT_5 + b"doRebalance, g, mq already exists, " + MQ + b"\n")
    assert (parsed.found, parsed.unknown) == ([], 0)


def test_a_client_that_starts_is_told_by_another_line():
    parsed = client(AT_5 + b"the client factory [127.0.0.1@one] start OK\n")
    assert (parsed.found, parsed.unknown) == ([], 0)


def test_a_line_that_begins_as_known_and_goes_on_otherwise_is_unknown():
    parsed = client(AT_5 + b"doRebalance, g, a way of the next version, " + MQ + b"\n" + AT_5 + ADDED + b"\n")
    assert (len(parsed.found), parsed.unknown) == (1, 1)


def test_a_commit_that_ends_otherwise_than_the_one_before_is_unknown():
    commit = AT_5 + b"[persistAll] Group: g ClientId: c updateConsumeOffsetToBroker " + MQ
    parsed = client(commit + b" 12\n" + commit + b" twelve\n" + commit + b" 13\r\n")
    assert ([one.params["offset"] for one in parsed.found], parsed.unknown) == ([12, 13], 1)


def test_what_a_message_quotes_is_no_line():
    assert client(AT_5 + b"body: - doRebalance - " + ADDED + b"\n").found == []


def test_a_line_without_a_time_is_unknown():
    parsed = client(b"WARN - " + ADDED + b"\n" + b"2026-02-30 10:00:00,000 WARN x - " + ADDED + b"\n")
    assert (parsed.found, parsed.unknown) == ([], 2)


def test_a_long_line_is_cut_and_counted():
    threw = AT_4 + b"consumeMessage return null, Group: g Msgs: [MessageExt [brokerName=b, queueId=3, storeSize=9, "
    parsed = client(threw + b"queueOffset=41, body=[" + b"1, " * LONGEST_LINE + b"] MQ: " + MQ + b"\n")
    [found] = parsed.found
    assert (parsed.long, found.subject.key[3:], found.params) == (1, (None, None, None), {"offset": 41})


@pytest.mark.parametrize(
    ("line", "zones", "utc"),
    [
        # Clients from 5.0 and brokers write GMT+8 on every machine.
        (AT_5, UTC_ZONE, "2026-11-23T14:13:24.640"),
        (AT_5, Zones(None, ZoneInfo("America/New_York")), "2026-11-23T14:13:24.640"),
        # Clients before write the zone of their machine.
        (AT_4, UTC_ZONE, "2026-11-23T14:13:24.640"),
        (AT_4, Zones(None, ZoneInfo("America/New_York")), "2026-11-23T19:13:24.640"),
        # A zone that is named counts for all.
        (AT_5, NAMED, "2026-11-23T21:13:24.640"),
        (AT_4, NAMED, "2026-11-23T13:13:24.640"),
    ],
)
def test_times_are_read_in_the_zone_of_their_layout_or_in_the_named_one(line, zones, utc):
    assert time(line + ADDED, zones) == datetime.fromisoformat(utc).replace(tzinfo=UTC)


def test_times_of_brokers_are_gmt_8():
    [found] = LogParser(LogRole.BROKER, UTC_ZONE).parse(AT_BROKER + b"unlockBatch, Group: g " + MQ + b" c@1\n").found
    assert datetime.fromtimestamp(found.at / 1000, UTC) == datetime(2026, 11, 23, 14, 13, 24, tzinfo=UTC)


def test_an_hour_that_occurs_twice_is_the_first_and_says_so():
    [found] = client(b"2026-10-25 02:30:00,000 INFO RocketmqClient - " + ADDED + b"\n", NAMED).found
    assert found.at == datetime(2026, 10, 25, 0, 30, tzinfo=UTC).timestamp() * 1000
    assert found.params == {"occurs_twice": True}


@pytest.mark.parametrize(
    ("tail", "form"),
    [
        (AT_5 + b"x\n", LogForm.CLIENT_5),
        (AT_4 + b"x\n\tat a trace\n", LogForm.CLIENT_4),
        (AT_BROKER + b"x\n", LogForm.BROKER),
        (b"2026-11-23 14:13:24.640 INFO  [main] RocketmqClient - x\n", LogForm.OWN),
        (b"cut off - x\n" + AT_5 + b"y\n" + AT_4 + b"half", LogForm.CLIENT_4),
    ],
)
def test_the_last_line_tells_the_layout(tail, form):
    last = last_line(tail, UTC_ZONE)
    assert last is not None
    assert last.form == form


@pytest.mark.parametrize("tail", [b"", b"\n", b"no log\n", b"2026-11-23 no - level\n"])
def test_what_is_no_log_has_no_last_line(tail):
    assert last_line(tail, UTC_ZONE) is None


ANY_ZONE = st.sampled_from([UTC, timezone(timedelta(hours=14)), ZoneInfo("Europe/Berlin")])
SAMPLE_LINES = [(REAL / name).read_bytes().splitlines(keepends=True) for name in RECORDED]


@given(body=st.binary(max_size=400), zone=ANY_ZONE, role=st.sampled_from(LogRole))
def test_any_bytes_are_parsed(body, zone, role):
    LogParser(role, Zones(zone, UTC)).parse(body + b"\n")
    last_line(body, Zones(zone, UTC))


@given(data=st.data(), role=st.sampled_from(LogRole))
def test_lines_with_any_bytes_in_them_are_parsed_and_counted(data, role):
    line = data.draw(st.sampled_from([one for lines in SAMPLE_LINES for one in lines] + [one for _, one, _ in MADE]))
    start = data.draw(st.integers(0, len(line)))
    end = data.draw(st.integers(start, len(line)))
    body = (line[:start] + data.draw(st.binary(max_size=30)) + line[end:]).rstrip(b"\n") + b"\n"
    parsed = LogParser(role, UTC_ZONE).parse(body)
    assert len(parsed.found) + parsed.unknown <= parsed.lines
    assert all(0 <= one.position < len(body) for one in parsed.found)
    RunMerger().take(parsed.found)


@given(data=st.data())
def test_blocks_of_any_lines_tell_what_the_whole_tells(data):
    lines = data.draw(st.lists(st.sampled_from(SAMPLE_LINES[0] + SAMPLE_LINES[1]), max_size=12))
    cut = data.draw(st.integers(0, len(lines)))
    parser, merger = LogParser(LogRole.CLIENT, UTC_ZONE), RunMerger()
    parts = [b"".join(lines[:cut]), b"".join(lines[cut:])]
    runs = {id(run): run for part in parts for run in merger.take(parser.parse(part).found)}
    whole = RunMerger().take(client(b"".join(lines)).found)
    assert [(run.key, run.began_at, run.at, run.lines, run.all_params) for run in runs.values()] == [
        (run.key, run.began_at, run.at, run.lines, run.all_params) for run in whole
    ]
