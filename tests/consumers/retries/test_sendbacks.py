"""Whether what a group sends back came back since a moment: known, or not known for a reason."""

import pytest

from consumers.retries.heads import (
    MAYBE_EARLIER,
    NO_WINDOWS,
    OLD_WAITING,
    MinuteVolumes,
    RetryArrivals,
)
from tests.readings import at

SINCE = at(130)


def minute(start, into_retry=0, into_dlq=0):
    return MinuteVolumes(at(start), into_retry, into_dlq)


QUIET = [minute(120), minute(180), minute(240)]


@pytest.mark.parametrize(
    ("came", "expected"),
    [
        (RetryArrivals([*QUIET, minute(300, into_retry=1)]), (True, None)),
        (RetryArrivals([*QUIET, minute(300, into_dlq=1)]), (True, None)),
        (RetryArrivals(QUIET), (False, None)),
        (RetryArrivals(QUIET, changed_at=at(200)), (False, None)),
        # The minute in which it began may have seen it before.
        (RetryArrivals([minute(120, into_retry=1), minute(180)], changed_at=at(140)), (None, MAYBE_EARLIER)),
        (RetryArrivals([minute(120, into_retry=1), minute(180)], changed_at=at(125)), (False, None)),
        (RetryArrivals([minute(60, into_retry=1), minute(180)]), (False, None)),
        (RetryArrivals([minute(60, into_retry=1)]), (None, NO_WINDOWS)),
        (RetryArrivals([]), (None, NO_WINDOWS)),
        # What was not counted: a retry topic that no number of changed since tells it all the same.
        (RetryArrivals([minute(180, into_retry=None)], changed_at=at(130)), (False, None)),
        (RetryArrivals([minute(180, into_retry=None)], changed_at=at(131)), (None, MAYBE_EARLIER)),
        (RetryArrivals([minute(180, into_retry=None)]), (False, None)),
        (RetryArrivals([minute(180, into_dlq=None)]), (None, MAYBE_EARLIER)),
        # On a delay level.
        (RetryArrivals(QUIET, waiting_since=at(130)), (True, None)),
        (RetryArrivals(QUIET, waiting_since=at(129)), (None, OLD_WAITING)),
        (RetryArrivals(QUIET, unread="broker-a is silent"), (None, "broker-a is silent")),
        (RetryArrivals([minute(180, into_retry=1)], unread="broker-a is silent"), (True, None)),
    ],
)
def test_what_came_back_since_a_moment(came, expected):
    assert came.since(SINCE) == expected
