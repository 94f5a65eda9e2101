"""Lines alike become one event."""

from consumers.logs.parse.parser import LogParser, RunMerger
from consumers.vocabulary.logs import LogRole
from tests.consumers.logs.made_lines import MQ
from tests.consumers.logs.real_lines import UTC_ZONE


def commits(*lines):
    """(time of day, offset)"""
    body = b"".join(
        b"2026-11-23 %s,000 INFO RocketmqClient - [persistAll] Group: g ClientId: c updateConsumeOffsetToBroker %s %d\n"
        % (at.encode(), MQ, offset)
        for at, offset in lines
    )
    runs = RunMerger().take(LogParser(LogRole.CLIENT, UTC_ZONE).parse(body).found)
    return [(run.lines, run.all_params["low_offset"], run.all_params["high_offset"]) for run in runs]


def test_commits_every_few_seconds_are_one_event():
    assert commits(("10:00:00", 5), ("10:00:05", 5), ("10:00:10", 9)) == [(3, 5, 9)]


def test_commits_after_two_minutes_of_silence_are_an_event_of_their_own():
    assert commits(("10:00:00", 5), ("10:02:00", 6), ("10:04:00", 7), ("10:07:00", 8)) == [(3, 5, 7), (1, 8, 8)]


def test_a_commit_below_the_last_one_is_an_event_of_its_own():
    assert commits(("10:00:00", 5), ("10:00:05", 9), ("10:00:10", 7)) == [(2, 5, 9), (1, 7, 7)]


def test_commits_of_another_process_are_an_event_of_their_own():
    line = b"2026-11-23 10:00:00.000 INFO  [%d] [t] [a.B#?:?] - [persistAll] Group: g ClientId: c "
    line += b"updateConsumeOffsetToBroker " + MQ + b" 7\n"
    body = b"".join(line % process for process in (1, 1, 2))
    runs = RunMerger().take(LogParser(LogRole.CLIENT, UTC_ZONE).parse(body).found)
    assert [(run.lines, run.params["process"]) for run in runs] == [(2, 1), (1, 2)]


def test_lines_that_are_written_once_stay_single():
    line = b"2026-11-23 10:00:00,000 INFO RocketmqClient - doRebalance, g, add a new mq, " + MQ + b"\n"
    assert len(RunMerger().take(LogParser(LogRole.CLIENT, UTC_ZONE).parse(line * 3).found)) == 3
