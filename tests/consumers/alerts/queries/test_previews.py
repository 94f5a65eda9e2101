"""What a preview says of itself is said in the language of who reads it."""

import pytest
from django.utils.translation import override

from consumers.alerts.queries.previews import find_preview
from tests.alert_rows import a_preview

pytestmark = pytest.mark.django_db
RANGE_START = "A condition that was met before the range counts from the start of the range."


def notes(step_seconds: int) -> list[str]:
    found = find_preview(a_preview(status="done", result={"step_seconds": step_seconds}).pk)
    assert found is not None
    assert found.result is not None
    return found.result["notes"]  # type: ignore[no-any-return]


def test_a_long_range_says_how_much_of_it_was_looked_at() -> None:
    assert not any("one window in" in note for note in notes(60))
    assert any("one window in 10 minutes" in note for note in notes(600))


def test_a_note_is_in_the_language_of_the_page() -> None:
    assert RANGE_START in notes(60)
    with override("zh-hans"):
        assert RANGE_START not in notes(60)


def test_one_that_is_not_done_has_no_result() -> None:
    found = find_preview(a_preview().pk)
    assert found is not None
    assert found.result is None
