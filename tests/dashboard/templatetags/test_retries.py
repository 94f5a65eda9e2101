"""What stands about retries on pages."""

import pytest
from django.template import Context

from consumers.retries.ladder_rows import LastAttempts
from dashboard.templatetags.retries import last_attempts
from tests.world import NOW, ago


@pytest.mark.parametrize("messages", [0, 2])
def test_the_last_retry_is_named_with_whose_maximum_it_is(messages: int) -> None:
    row = LastAttempts(messages=messages, next_due_at=ago(-9), max_retries=3, reported_by="the members")
    assert "after retry 3, the maximum of the members" in last_attempts(Context({"now": NOW}), row)


def test_where_retries_are_not_limited_no_last_one_is_named() -> None:
    row = LastAttempts(messages=0, next_due_at=None, max_retries=None, reported_by="the members")
    assert "after retry" not in last_attempts(Context({"now": NOW}), row)
