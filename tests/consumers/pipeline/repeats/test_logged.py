"""The table of log lines as evidence: which prove a cause, which only support it, and which tell of another queue."""

import pytest

from consumers.pipeline.kernel.segments import MICROSECONDS
from consumers.pipeline.repeats.logged import LINES_KEPT, LoggedLine, with_lines
from consumers.pipeline.repeats.parts import RepeatPart
from consumers.vocabulary.logs import LogCode
from consumers.vocabulary.repeats import REPEAT_CAUSES, Confidence, RepeatCause, RepeatSource

QUEUE = {"topic": "Orders", "broker": "broker-a", "queue_id": 0}
RETRIES = {"topic": "%RETRY%billing", "broker": None, "queue_id": None}


def a_part(cause, confidence="likely", **fields):
    """Between 60 and 75 s."""
    times = {"after_us": 60 * MICROSECONDS, "at_us": 75 * MICROSECONDS, "low": 40, "high": 120}
    return RepeatPart(RepeatCause(cause), Confidence(confidence), **(times | QUEUE | fields))


def of_retries(cause, confidence="likely"):
    """Of the minute from 60 to 120 s."""
    return a_part(cause, confidence, at_us=120 * MICROSECONDS, **RETRIES)


def a_line(code, seconds=70.0, **fields):
    at = int(seconds * MICROSECONDS)
    return LoggedLine(LogCode(code), at, at, **fields)


CASES = [
    ("a result that was dropped proves it", a_part("stale_offset"), ["result_dropped"], "stale_offset", "proven"),
    ("from possible, too", a_part("stale_offset", "possible"), ["result_dropped"], "stale_offset", "proven"),
    ("a queue that was given up supports it", a_part("stale_offset"), ["queue_removed"], "stale_offset", "likely"),
    (
        "a closed channel is no crash by itself",
        a_part("consumer_crash"),
        ["channel_closed"],
        "consumer_crash",
        "likely",
    ),
    ("a lost lock is no second owner by itself", a_part("two_owners"), ["lock_lost"], "two_owners", "likely"),
    ("a reset in a log", a_part("reset_elsewhere"), ["reset_received"], "reset_elsewhere", "proven"),
    ("a listener threw", of_retries("wrong_ack"), ["consume_threw"], "wrong_ack", "proven"),
    ("a listener returned null", of_retries("wrong_ack"), ["consume_returned_null"], "wrong_ack", "proven"),
    (
        "a batch was sent back",
        of_retries("batch_reconsume", "possible"),
        ["consume_not_ok"],
        "batch_reconsume",
        "proven",
    ),
    ("only timeouts", of_retries("wrong_ack"), ["consume_timed_out"], "consume_timeout", "proven"),
    ("both", of_retries("wrong_ack"), ["consume_timed_out", "consume_threw"], "wrong_ack", "proven"),
    (
        "members report failures, so timeouts are not all",
        of_retries("wrong_ack", "proven"),
        ["consume_timed_out"],
        "wrong_ack",
        "proven",
    ),
    ("a line of another kind", a_part("stale_offset"), ["consume_threw"], "stale_offset", "likely"),
    ("no line", a_part("stale_offset"), [], "stale_offset", "likely"),
]


@pytest.mark.parametrize(
    ("part", "codes", "cause", "confidence"), [row[1:] for row in CASES], ids=[r[0] for r in CASES]
)
def test_a_line_raises_a_cause_that_it_names(part, codes, cause, confidence):
    found = with_lines(part, [a_line(code) for code in codes])

    assert (found.cause, found.confidence) == (cause, confidence)


A, B = "10.0.0.7@3312", "10.0.0.9@3312"
LEFT = {"evidence": [{"code": "owner_left", "client_id": A}]}


@pytest.mark.parametrize(
    ("part", "lines", "cause", "confidence"),
    [
        (a_part("consumer_crash", "possible", **LEFT), [("channel_closed", A)], "consumer_crash", "likely"),
        (a_part("consumer_crash", "possible", **LEFT), [("channel_closed", B)], "consumer_crash", "possible"),
        (a_part("consumer_crash", "possible", **LEFT), [], "consumer_crash", "possible"),
        (a_part("shutdown_did_not_wait", "possible", **LEFT), [("channel_closed", A)], "consumer_crash", "likely"),
        (
            a_part("consumer_crash", "possible", **LEFT),
            [("channel_closed", A), ("consumer_unregistered", A)],
            "shutdown_did_not_wait",
            "possible",
        ),
        (a_part("consumer_crash", "proven", **LEFT), [("consumer_unregistered", A)], "consumer_crash", "proven"),
    ],
    ids=["closed", "another's", "no line", "in a rollout", "unregistered", "a gap proves it"],
)
def test_a_broker_tells_a_member_that_crashed_from_one_that_was_shut_down(part, lines, cause, confidence):
    found = with_lines(part, [a_line(code, client_id=client) for code, client in lines])

    assert (found.cause, found.confidence) == (cause, confidence)


@pytest.mark.parametrize(
    ("client", "seconds", "cause"),
    [
        (A, 70, "shutdown_did_not_wait"),
        (A, 86, "shutdown_did_not_wait"),
        (A, 88, "consumer_crash"),
        (A, 57, "consumer_crash"),
        (B, 70, "consumer_crash"),
    ],
    ids=["meanwhile", "it ended some seconds after it left", "long after", "before", "another's"],
)
def test_a_client_that_says_it_was_shut_down_did_not_crash(client, seconds, cause):
    part = a_part("consumer_crash", "possible", **LEFT)

    found = with_lines(part, [a_line("client_stopped", seconds, client_id=client)])

    assert (found.cause, found.confidence) == (cause, "possible")
    assert ("client_stopped" in [one.get("log") for one in found.evidence]) is (cause != "consumer_crash")


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        ({}, True),
        (QUEUE, True),
        ({"topic": "Orders"}, True),
        ({**QUEUE, "queue_id": 1}, False),
        ({**QUEUE, "topic": "Bills"}, False),
        ({"seconds": 57.0}, False),
        ({"seconds": 58.5}, True),
        ({"seconds": 76.5}, True),
        ({"seconds": 78.0}, False),
    ],
)
def test_only_lines_of_its_time_and_queue_count(line, counts):
    found = with_lines(a_part("stale_offset"), [a_line("result_dropped", **line)])

    assert (found.confidence is Confidence.PROVEN) is counts


def test_a_failure_comes_before_its_retry_arrives():
    early, too_early = a_line("consume_threw", 5.0), a_line("consume_threw", -1.0)

    assert with_lines(of_retries("wrong_ack"), [early]).confidence is Confidence.PROVEN
    assert with_lines(of_retries("wrong_ack"), [too_early]).confidence is Confidence.LIKELY


def test_lines_are_evidence_the_proving_ones_first():
    line = a_line("result_dropped", lines=3, client_id="a@1")
    part = a_part("stale_offset", evidence=[{"code": "owner_stayed"}])

    found = with_lines(part, [a_line("queue_removed"), line])

    assert found.evidence == [
        {"code": "owner_stayed"},
        {
            "code": "log_line",
            "log": "result_dropped",
            "lines": 3,
            "at": "1970-01-01T00:01:10Z",
            "client_id": "a@1",
        },
        {"code": "log_line", "log": "queue_removed", "lines": 1, "at": "1970-01-01T00:01:10Z"},
    ]


def test_a_thousand_lines_are_a_few():
    found = with_lines(a_part("stale_offset"), [a_line("result_dropped")] * 1000)

    assert len(found.evidence) == LINES_KEPT


def test_what_no_log_tells_has_no_lines():
    without = {RepeatCause.SENT_TWICE, RepeatCause.POP_REVIVE, RepeatCause.BROADCAST_CRASH, RepeatCause.UNKNOWN}

    assert all(not (REPEAT_CAUSES[cause].proven_by or REPEAT_CAUSES[cause].supported_by) for cause in without)
    assert REPEAT_CAUSES[RepeatCause.CONSUME_TIMEOUT].source is RepeatSource.CLIENT_LOGS
