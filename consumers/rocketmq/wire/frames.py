"""Bytes to commands and back. No socket, no clock: the connection feeds bytes in and takes commands out."""

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

from consumers.rocketmq.bodies.fastjson import readable

from .codes import CLIENT_VERSION, LocalProtocolError, RemoteProtocolError

# One request or answer of RocketMQ's remoting protocol, as a value (5.4.0, RemotingCommand).
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


# The ROCKETMQ header, which a server may answer with (5.4.0, RocketMQSerializable.rocketMQProtocolDecode).
#
# i16 code, u8 language, i16 version, i32 opaque, i32 flag, i32 length + remark,
# i32 length + {i16 length + key, i32 length + value}*
# LanguageCode; the position is the code.
_LANGUAGES = (
    "JAVA",
    "CPP",
    "DOTNET",
    "PYTHON",
    "DELPHI",
    "ERLANG",
    "RUBY",
    "OTHER",
    "HTTP",
    "GO",
    "PHP",
    "OMS",
    "RUST",
    "NODE_JS",
)

_FIXED = struct.Struct(">hBhii")

_INT, _SHORT = struct.Struct(">i"), struct.Struct(">h")


def decode_binary_header(header: bytes, body: bytes) -> Command:
    """Raises RemoteProtocolError for lengths that do not add up, bad UTF-8 and trailing bytes."""
    if len(header) < _FIXED.size:
        raise RemoteProtocolError(f"a binary header of only {len(header)} bytes")
    code, language, version, opaque, flag = _FIXED.unpack_from(header)
    remark, position = _header_text(header, _FIXED.size, _INT)
    ext_length, position = _length(header, position, _INT)
    if position + ext_length != len(header):
        raise RemoteProtocolError("a binary header whose extFields do not end where the header ends")
    ext_fields: dict[str, str] = {}
    while position < len(header):
        key, position = _header_text(header, position, _SHORT)
        ext_fields[key], position = _header_text(header, position, _INT)
    return Command(
        code=code,
        opaque=opaque,
        flag=flag,
        ext_fields=ext_fields,
        body=body,
        remark=remark or None,
        version=version,
        language=_LANGUAGES[language] if language < len(_LANGUAGES) else None,
    )


def _length(header: bytes, position: int, kind: struct.Struct) -> tuple[int, int]:
    after = position + kind.size
    if after > len(header):
        raise RemoteProtocolError("a binary header that ends within a length")
    (length,) = kind.unpack_from(header, position)
    if length < 0 or after + length > len(header):
        raise RemoteProtocolError(f"a length of {length} bytes in a binary header of {len(header)}")
    return length, after


def _header_text(header: bytes, position: int, kind: struct.Struct) -> tuple[str, int]:
    length, start = _length(header, position, kind)
    try:
        return readable(header[start : start + length].decode()), start + length
    except UnicodeDecodeError as error:
        raise RemoteProtocolError("a binary header with text that is not UTF-8") from error


# A frame, all big-endian (5.4.0, RemotingCommand.encode and decode; NettyDecoder):
# u32 length of the rest | u8 header kind | u24 header length | header | body
__all__ = ["MAX_ANSWER", "MAX_REQUEST", "Command", "FrameReader", "encode"]

MAX_ANSWER = 256 * 1024 * 1024

# Servers refuse longer frames (com.rocketmq.remoting.frameMaxLength).
MAX_REQUEST = 16 * 1024 * 1024

JSON_HEADER, BINARY_HEADER = 0, 1

_LENGTHS = struct.Struct(">II")


def encode(command: Command) -> bytes:
    """One frame with a JSON header. Raises LocalProtocolError for what no server would take."""
    _check_sendable(command)
    header: dict[str, object] = {"code": command.code, "opaque": command.opaque, "flag": command.flag}
    optional = {"language": command.language, "version": command.version, "remark": command.remark}
    header |= {name: value for name, value in optional.items() if value is not None}
    if command.ext_fields:
        header["extFields"] = dict(command.ext_fields)
    try:
        head = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError as error:
        raise LocalProtocolError("a field of the request is not valid text") from error
    total = 4 + len(head) + len(command.body)
    if len(head) >= 1 << 24 or (total > MAX_REQUEST and not command.is_response):
        raise LocalProtocolError(f"a request of {total} bytes is longer than the {MAX_REQUEST} that servers accept")
    return _LENGTHS.pack(total, JSON_HEADER << 24 | len(head)) + head + command.body


def _check_sendable(command: Command) -> None:
    for name, number in (("code", command.code), ("opaque", command.opaque), ("flag", command.flag)):
        if not -(2**31) <= number < 2**31:
            raise LocalProtocolError(f"{name} {number} does not fit 32 bits")
    for name, value in command.ext_fields.items():
        if not isinstance(name, str) or not isinstance(value, str):
            raise LocalProtocolError(f"the extension field {name!r} must be text, not {type(value).__name__}")


class FrameReader:
    """Takes bytes as they come and gives whole commands. After an error the stream is lost: close the connection."""

    def __init__(self, max_frame: int = MAX_ANSWER) -> None:
        self._buffer = bytearray()
        self._max_frame = max_frame

    @property
    def is_mid_frame(self) -> bool:
        return bool(self._buffer)

    def receive(self, received: bytes) -> None:
        self._buffer += received

    def next_command(self) -> Command | None:
        """None means: more bytes are needed. Raises RemoteProtocolError."""
        buffer = self._buffer
        if len(buffer) >= 4:
            self._check_total(int.from_bytes(buffer[:4], "big"))
        if len(buffer) < 8:
            return None
        total, mark = _LENGTHS.unpack_from(buffer)
        kind, header_length = mark >> 24, mark & 0xFFFFFF
        if kind not in (JSON_HEADER, BINARY_HEADER):
            raise RemoteProtocolError(f"unknown header kind {kind} in a frame, is this a RocketMQ port?")
        if header_length > total - 4:
            raise RemoteProtocolError(f"a header of {header_length} bytes in a frame of {total}")
        if len(buffer) < 4 + total:
            return None
        with memoryview(buffer) as view:
            header, body = bytes(view[8 : 8 + header_length]), bytes(view[8 + header_length : 4 + total])
        del buffer[: 4 + total]
        return decode_binary_header(header, body) if kind == BINARY_HEADER else _decode_json_header(header, body)

    def _check_total(self, total: int) -> None:
        # A negative length is one of 2 GiB and more when read without sign.
        if not 4 <= total <= self._max_frame:
            raise RemoteProtocolError(f"a frame of {total} bytes, is this a RocketMQ port?")


def _decode_json_header(header: bytes, body: bytes) -> Command:
    try:
        fields = json.loads(header.decode())
    except (ValueError, RecursionError) as error:
        raise RemoteProtocolError("a header that is not JSON") from error
    if not isinstance(fields, dict):
        raise RemoteProtocolError("a header that is not a JSON object")
    return Command(
        code=_int32(fields, "code"),
        opaque=_int32(fields, "opaque"),
        # Absent fields of a header have Java's zero as their meaning, unlike those of a body.
        flag=_int32({"flag": 0} | fields, "flag"),
        ext_fields=_ext_fields(fields.get("extFields")),
        body=body,
        remark=_text(fields, "remark"),
        version=_int32(fields, "version") if fields.get("version") is not None else None,
        language=_text(fields, "language"),
    )


def _int32(fields: Mapping[str, object], name: str) -> int:
    value = fields.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not -(2**31) <= value < 2**31:
        raise RemoteProtocolError(f"a header whose {name} is not a 32-bit number")
    return value


def _text(fields: Mapping[str, object], name: str) -> str | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, str):
        raise RemoteProtocolError(f"a header whose {name} is not text")
    return None if value is None else readable(value)


def _ext_fields(value: object) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise RemoteProtocolError("a header whose extFields are not a map of texts")
    return {readable(name): readable(item) for name, item in value.items()}
