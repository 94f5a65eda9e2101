"""What became of one try to send a message."""

from dataclasses import dataclass

from .http_post import Answer

# Too early, too many, too slow: the same request may be taken another time (RFC 9110 §15.5, RFC 8470, RFC 6585).
MAY_PASS = {408, 425, 429}


@dataclass(frozen=True)
class Outcome:
    """`answer` is for people; `shown` makes it so. `hopeless`: the same message will not be taken another time."""

    ok: bool
    answer: str
    hopeless: bool = False
    retry_after_seconds: float | None = None


def outcome_of(answer: Answer) -> Outcome:
    said = f"{answer.status} {answer.reason}".strip()
    text = " ".join(answer.text.split())
    if text and not text.isprintable():
        text = "an answer that is no text"
    if 300 <= answer.status < 400:
        text = "redirects are not followed: enter the address that it leads to"
    return Outcome(
        ok=200 <= answer.status < 300,
        answer=f"{said}: {text}" if text else said,
        hopeless=400 <= answer.status < 500 and answer.status not in MAY_PASS,
        retry_after_seconds=answer.retry_after_seconds,
    )
