"""Everything that can go wrong on the wire, as types. The type says who broke what; str() is one sentence."""

from .codes import ResponseCode, call_name


class RocketMQError(Exception):
    """`address` is the peer's, None where no peer was involved or the caller has yet to add it.

    `never_sent` is true where it is certain that no byte of the request left; false says nothing.
    """

    never_sent = False

    def __init__(self, sentence: str, *, address: str | None = None) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.address = address

    def __str__(self) -> str:
        return self.sentence if self.address is None else f"{self.address}: {self.sentence}"


class Unreachable(RocketMQError):
    """Refused, not resolvable, reset, or closed before the answer was whole."""


class DeadlineExceeded(RocketMQError):
    """The peer may still be working on it."""


class RemoteProtocolError(RocketMQError):
    """The peer broke the rules of frames or bodies."""


class LocalProtocolError(RocketMQError):
    """We were about to break them: a bad address, a field that cannot be sent. Nothing was sent."""

    never_sent = True


# What brokers with access control say, in other words (5.4.0, DefaultAuthenticationHandler).
_MEANINGS = {
    "username cannot be null": "it wants requests signed with an access key",
    "check signature failed": "the secret key is not the one of this access key",
}


class BrokerRefused(RocketMQError):
    """A whole answer with a code that is not success."""

    def __init__(self, code: int, remark: str | None, request_code: int, *, address: str | None = None) -> None:
        self.code = code
        self.remark = remark
        self.request_code = request_code
        try:
            meaning = f"{ResponseCode(code).name} ({code})"
        except ValueError:
            meaning = f"code {code}"
        # Brokers put whole stack traces into remarks; the first line carries the reason.
        reason = f": {remark.splitlines()[0]}" if remark and remark.strip() else ""
        advice = next((f" – {words}" for said, words in _MEANINGS.items() if said in reason), "")
        super().__init__(f"{call_name(request_code)} was refused with {meaning}{reason}{advice}", address=address)


class GoAway(BrokerRefused):
    """The server is shutting down and wants clients to reconnect elsewhere (5.3.2+, NettyRemotingAbstract)."""


class NameServersFailed(RocketMQError):
    """No name server gave an answer; `failures` holds what each of them did, in the order asked."""

    def __init__(self, failures: list[RocketMQError]) -> None:
        self.failures = tuple(failures)
        super().__init__("no name server answered: " + "; ".join(str(failure) for failure in failures))


def refused(code: int, remark: str | None, request_code: int, *, address: str | None = None) -> BrokerRefused:
    kind = GoAway if code == ResponseCode.GO_AWAY else BrokerRefused
    return kind(code, remark, request_code, address=address)
