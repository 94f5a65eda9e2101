"""The ROCKETMQ header, which a server may answer with (5.4.0, RocketMQSerializable.rocketMQProtocolDecode).

i16 code, u8 language, i16 version, i32 opaque, i32 flag, i32 length + remark,
i32 length + {i16 length + key, i32 length + value}*
"""

import struct

from consumers.rocketmq.bodies.fastjson import readable

from .command import Command
from .errors import RemoteProtocolError

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
    remark, position = _text(header, _FIXED.size, _INT)
    ext_length, position = _length(header, position, _INT)
    if position + ext_length != len(header):
        raise RemoteProtocolError("a binary header whose extFields do not end where the header ends")
    ext_fields: dict[str, str] = {}
    while position < len(header):
        key, position = _text(header, position, _SHORT)
        ext_fields[key], position = _text(header, position, _INT)
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


def _text(header: bytes, position: int, kind: struct.Struct) -> tuple[str, int]:
    length, start = _length(header, position, kind)
    try:
        return readable(header[start : start + length].decode()), start + length
    except UnicodeDecodeError as error:
        raise RemoteProtocolError("a binary header with text that is not UTF-8") from error
