"""What every kind of channel sends with, and what became of one try to send a message."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .addresses import Network, WrongAddress, parsed_url
from .http_post import Answer, NoAnswer, post

# Too early, too many, too slow: the same request may be taken another time (RFC 9110 §15.5, RFC 8470, RFC 6585).
MAY_PASS = {408, 425, 429}
TOO_MANY = 429


@dataclass(frozen=True)
class Outcome:
    """`answer` is for people. `hopeless`: the same message will not be taken another time.

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


@dataclass(frozen=True)
class Means:
    """`seconds`: for one exchange. `named`: changes that a text names. `alive` is called before each further step of a
    message that takes several; it raises NotHeld where another worker has taken the channel over.
    """

    networks: Sequence[Network]
    seconds: float
    named: int
    alive: Callable[[], None]


def posted(url: str, content: bytes, headers: Mapping[str, str], means: Means) -> Outcome:
    try:
        return outcome_of(post(parsed_url(url), content, headers, means.networks, means.seconds))
    except WrongAddress as error:
        # A name may lead elsewhere tomorrow, a network be allowed: it is tried again like what did not answer.
        return Outcome(False, str(error), is_away=True)
    except NoAnswer as error:
        return Outcome(False, str(error), is_away=error.is_away)
