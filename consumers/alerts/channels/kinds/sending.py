"""What every kind of channel uses to send, and the result of one attempt to send a message."""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse

from consumers.vocabulary.alerts import DeliveryResult
from consumers.vocabulary.reasons import reasons_in, stored_reason, stored_reasons

from .addresses import Network, NotResolved, Url, WrongAddress, checked_addresses, parsed_url

# One POST to a checked address: no redirect, no proxy, no second DNS lookup, and a deadline for the whole exchange.
LONGEST_ANSWER = 65536

AT_ONCE = 8192

MOST_TRIED = 4


class NoAnswer(Exception):
    """Nothing that counts was answered; str() is a stored reason. Where `is_away`, nobody was there to take the
    request; else it may have arrived all the same.
    """

    def __init__(self, sentence: str, is_away: bool) -> None:
        super().__init__(sentence)
        self.is_away = is_away


@dataclass(frozen=True)
class Answer:
    """`text` is the beginning of the answer, at most 64 kB. `retry_after_seconds` is what the receiver asked for, if
    anything.
    """

    status: int
    reason: str
    text: str
    retry_after_seconds: float | None = None


def post(url: Url, content: bytes, headers: Mapping[str, str], networks: Sequence[Network], seconds: float) -> Answer:
    """Takes at most `seconds` in total. Raises WrongAddress and NoAnswer."""
    ends = time.monotonic() + seconds
    late, is_away = threading.Event(), True
    try:
        addresses = checked_addresses(url.host, url.port, networks, seconds)
        with _connection(url, addresses, ends, late) as connection:
            is_away = False
            connection.request("POST", url.path, content, {"Host": url.authority, **headers})
            return _answered(connection.getresponse())
    except NotResolved as error:
        raise NoAnswer(str(error), is_away) from None
    except (HTTPException, OSError) as error:
        if late.is_set() or isinstance(error, TimeoutError):
            late_reason = stored_reason(DeliveryResult.LATE, origin=url.origin, limit=f"{seconds:g}")
            raise NoAnswer(late_reason, is_away) from None
        problem = quoted(str(error)) or type(error).__name__
        raise NoAnswer(stored_reason(DeliveryResult.NO_ANSWER, origin=url.origin, error=problem), is_away) from None


@contextmanager
def _connection(url: Url, addresses: Sequence[str], ends: float, late: threading.Event) -> Iterator[HTTPConnection]:
    """A timeout of a socket restarts with each byte: a timer closes connections that send slowly."""
    line = _line(url, addresses, ends)
    if url.scheme == "https":
        # The certificate has to be of the name that was entered, not of the address behind it.
        context = ssl.create_default_context()
        line = context.wrap_socket(line, server_hostname=url.host.rstrip("."), do_handshake_on_connect=False)

    def end() -> None:
        late.set()
        with suppress(OSError):  # the connection was closed at the same time
            line.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(_left(ends), end)
    timer.daemon = True
    timer.start()
    try:
        if isinstance(line, ssl.SSLSocket):
            line.do_handshake()
        connection = HTTPConnection(url.host, url.port)
        connection.sock = line
        yield connection
    finally:
        timer.cancel()
        line.close()


def _line(url: Url, addresses: Sequence[str], ends: float) -> socket.socket:
    """Connects to the first address that accepts: a name may have an IPv6 address where this machine has no IPv6."""
    tried = addresses[:MOST_TRIED]
    for place, address in enumerate(tried, 1):
        try:
            line = socket.create_connection((address, url.port), timeout=_left(ends) / (len(tried) - place + 1))
        except OSError:
            if place == len(tried):
                raise
        else:
            line.settimeout(_left(ends))
            return line
    raise NotResolved(stored_reason(DeliveryResult.NO_ADDRESS, host=url.host))


def _left(ends: float) -> float:
    return max(ends - time.monotonic(), 0.001)


def _answered(response: HTTPResponse) -> Answer:
    """The status decides: a body that breaks off or never ends is not read further."""
    held = b""
    with suppress(HTTPException, OSError):
        while len(held) < LONGEST_ANSWER and (piece := response.read1(AT_ONCE)):
            held += piece
    text = held[:LONGEST_ANSWER].decode(errors="replace")
    return Answer(response.status, response.reason, text, _retry_after(response.getheader("Retry-After")))


def _retry_after(header: str | None) -> float | None:
    """The seconds of Retry-After. Its other form, a date, is ignored."""
    return float(header) if header and header.isascii() and header.isdigit() and len(header) < 7 else None


MAY_PASS = {408, 425, 429}

TOO_MANY = 429


@dataclass(frozen=True)
class Outcome:
    """`answer` is a stored reason, for people. `hopeless`: the receiver will never take this message. `is_away`: no
    receiver answered, which says nothing of the message. `asks_for_time`: the receiver takes nothing at present, for
    `retry_after_seconds` where it said for how long. `refused`: the receiver said that it took nothing."""

    ok: bool
    answer: str
    hopeless: bool = False
    retry_after_seconds: float | None = None
    is_away: bool = False
    asks_for_time: bool = False
    refused: bool = False

    @property
    def may_have_arrived(self) -> bool:
        """Also where the answer does not tell: a server that fails may have taken the message before."""
        return not (self.is_away or self.refused)


def outcome_of(answer: Answer) -> Outcome:
    ok, retry_after = 200 <= answer.status < 300, answer.retry_after_seconds
    hopeless = 400 <= answer.status < 500 and answer.status not in MAY_PASS
    return Outcome(
        ok=ok,
        answer=_answer_words(answer, hopeless=hopeless),
        hopeless=hopeless,
        retry_after_seconds=retry_after,
        asks_for_time=not ok and (answer.status == TOO_MANY or retry_after is not None),
        refused=300 <= answer.status < 500,
    )


def _answer_words(answer: Answer, *, hopeless: bool) -> str:
    status, text = f"{answer.status} {answer.reason}".strip(), " ".join(answer.text.split())
    if 300 <= answer.status < 400:
        return stored_reason(DeliveryResult.REDIRECTED, said=status)
    if text and not text.isprintable():
        return stored_reason(DeliveryResult.ANSWERED_NO_TEXT, said=status)
    code = DeliveryResult.REFUSED if hopeless else DeliveryResult.ANSWERED
    return stored_reason(code, said=f"{status}: {text}" if text else status)


@dataclass(frozen=True)
class Means:
    """`seconds`: for one exchange. `named`: changes that a text names. `alive` is called before each further step of a
    message that takes several; it raises NotHeld where another worker has taken the channel over.
    """

    networks: Sequence[Network]
    seconds: float
    named: int
    alive: Callable[[], None]


def quoted(text: str) -> str:
    """What others say, so that JSON of theirs is not taken for a stored reason."""
    return text if reasons_in(text) == [text] else f"“{text}”"


def with_note(answer: str, note: str | None) -> str:
    """`note`: why the built-in text was used, if it was."""
    if note is None:
        return answer
    return stored_reasons([answer, stored_reason(DeliveryResult.TEMPLATE_FAILED, error=note)])


def posted(url: str, content: bytes, headers: Mapping[str, str], means: Means) -> Outcome:
    try:
        return outcome_of(post(parsed_url(url), content, headers, means.networks, means.seconds))
    except WrongAddress as error:
        # A name may lead elsewhere tomorrow, a network be allowed: it is tried again like what did not answer.
        return Outcome(False, str(error), is_away=True)
    except NoAnswer as error:
        return Outcome(False, str(error), is_away=error.is_away)
