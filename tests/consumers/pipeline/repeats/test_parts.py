"""How repeats of single queues become events."""

from consumers.pipeline.repeats.parts import RepeatPart, joined_parts
from consumers.vocabulary.repeats import Confidence, RepeatCause, RepeatUnknown

SECOND = 1_000_000


def part(second, low=1, high=2, cause=RepeatCause.STALE_OFFSET, queue_id=0, **fields):
    values = {"confidence": Confidence.POSSIBLE, "after_us": (second - 15) * SECOND, "topic": "Orders"}
    values |= {"broker": "broker-a", "evidence": ()}
    return RepeatPart(cause=cause, at_us=second * SECOND, queue_id=queue_id, low=low, high=high, **(values | fields))


def events(*parts, merge=60, longest=3600):
    return list(joined_parts(parts, merge * SECOND, longest * SECOND))


def test_parts_of_one_cause_close_together_are_one_event():
    [event] = events(part(15), part(75, queue_id=1))

    assert (event.started_us, event.last_us, event.low, event.high) == (15 * SECOND, 75 * SECOND, 2, 4)


def test_parts_further_apart_are_two_events():
    assert [event.started_us for event in events(part(15), part(76))] == [15 * SECOND, 76 * SECOND]


def test_each_cause_has_an_event_of_its_own():
    found = events(part(15), part(15, cause=RepeatCause.CONSUMER_CRASH))

    assert {event.cause for event in found} == {RepeatCause.STALE_OFFSET, RepeatCause.CONSUMER_CRASH}


def test_of_failures_that_members_report_the_newest_count_is_told():
    counts = [{"code": "failures_reported", "failures": count} for count in (379, 763, 1147)]
    parts = [part(60 * number, evidence=[{"code": "sent_back"}, one]) for number, one in enumerate(counts)]

    [event] = events(*parts)

    assert event.evidence == [{"code": "sent_back"}, counts[-1]]


def test_an_event_that_lasts_too_long_is_cut():
    found = events(*(part(second) for second in range(0, 300, 60)), longest=120)

    assert [event.started_us // SECOND for event in found] == [0, 120, 240]


def test_a_part_without_a_high_bound_leaves_the_event_without_one_and_keeps_the_low():
    [event] = events(
        part(15, low=3), part(15, low=None, high=None, queue_id=1, unknown=RepeatUnknown.OWNER_NOT_SAMPLED)
    )

    assert (event.low, event.high) == (3, None)
    assert event.unknown == {"redelivered_high": "owner_not_sampled"}


def test_a_beginning_without_a_reading_before_has_its_reason():
    [event] = events(part(15, after_us=None))

    assert (event.began_after_us, event.unknown) == (None, {"began_after": "not_read_before"})


def test_the_surest_part_gives_the_confidence():
    [event] = events(part(15), part(20, confidence=Confidence.PROVEN))

    assert event.confidence == Confidence.PROVEN


def test_a_stored_part_reads_back_as_itself():
    one = part(15, evidence=({"code": "sent_back"},), from_offset=3, until_offset=5)

    assert RepeatPart.of_stored(str(one.cause), one.stored()).stored() == one.stored()
