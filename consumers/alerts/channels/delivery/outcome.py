"""What became of one try to send a message."""

from dataclasses import dataclass

from consumers.alerts.channels.kinds.http_post import Answer

# Too early, too many, too slow: the same request may be taken another time (RFC 9110 §15.5, RFC 8470, RFC 6585).
MAY_PASS = {408, 425, 429}
TOO_MANY = 429


@dataclass(frozen=True)
class Outcome:
    """`answer` is for people; `shown` makes it so. `hopeless`: the same message will not be taken another time.

    `is_away`: nobody was there to be asked, which says nothing of the message. `asks_for_time`: not now, whatever it
    is; for so long as `retry_after_seconds` where it said so.
    """

    ok: bool
    answer: str
    hopeless: bool = False
    retry_after_seconds: float | None = None
    is_away: bool = False
    asks_for_time: bool = False


def outcome_of(answer: Answer) -> Outcome:
    said = f"{answer.status} {answer.reason}".strip()
    text = " ".join(answer.text.split())
    if text and not text.isprintable():
        text = "an answer that is no text"
    if 300 <= answer.status < 400:
        text = "redirects are not followed: enter the address that it leads to"
    ok, wish = 200 <= answer.status < 300, answer.retry_after_seconds
    return Outcome(
        ok=ok,
        answer=f"{said}: {text}" if text else said,
        hopeless=400 <= answer.status < 500 and answer.status not in MAY_PASS,
        retry_after_seconds=wish,
        asks_for_time=not ok and (answer.status == TOO_MANY or wish is not None),
    )
