"""One request or answer of RocketMQ's remoting protocol, as a value (5.4.0, RemotingCommand)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .versions import CLIENT_VERSION

RESPONSE_FLAG = 1
ONEWAY_FLAG = 2


@dataclass(frozen=True)
class Command:
    """`opaque` joins an answer to its request. `version` and `language` are None where a peer left them out."""

    code: int
    opaque: int
    flag: int = 0
    ext_fields: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    remark: str | None = None
    version: int | None = CLIENT_VERSION
    language: str | None = "PYTHON"

    @property
    def is_response(self) -> bool:
        return bool(self.flag & RESPONSE_FLAG)

    @property
    def is_oneway(self) -> bool:
        return bool(self.flag & ONEWAY_FLAG)
