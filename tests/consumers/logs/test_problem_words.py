"""What is wrong with a log, as its row stores it, in a sentence."""

from consumers.words.logs import log_problem_words


def replaced(read_at: str | None) -> str | None:
    return log_problem_words({"code": "replaced_unread", "params": {"read_at": read_at}})


def test_a_log_that_was_replaced_says_when_it_was_read_last_in_utc() -> None:
    assert "after it was last read (2026-03-14 03:00:00 UTC) may" in str(replaced("2026-03-14T03:00:00.120973+00:00"))


def test_a_log_that_was_replaced_before_anything_was_read_says_so() -> None:
    assert "after it was last read (never) may" in str(replaced(None))
