"""What every kind of channel sends with."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from consumers.alerts.channels.delivery.outcome import Outcome, outcome_of

from .addresses import Network, WrongAddress
from .http_post import NoAnswer, post
from .urls import parsed_url


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
