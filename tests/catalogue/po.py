"""A .po file, read and written: as much of the format as the catalogue uses."""

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from .extracted import Message, key

HEADER = """\
msgid ""
msgstr ""
"Project-Id-Version: Consumerscope\\n"
"Language: zh_Hans\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: nplurals=1; plural=0;\\n"
"""
LINE = re.compile(r'(?P<key>msgctxt|msgid_plural|msgid|msgstr(?:\[0\])?)?\s*(?P<text>".*")')


@dataclass(frozen=True)
class Translation:
    singular: str
    plural: str
    text: str
    is_fuzzy: bool = False
    context: str = ""

    @property
    def key(self) -> str:
        return key(self.context, self.singular)


def read(path: Path) -> dict[str, Translation]:
    """By key; the header has the empty one."""
    found = {}
    for block in path.read_text().split("\n\n") if path.exists() else ():
        fields: dict[str, str] = {}
        name = ""
        for line in block.splitlines():
            if not line.startswith("#") and (match := LINE.fullmatch(line)):
                name = match["key"] or name
                fields[name] = fields.get(name, "") + ast.literal_eval(match["text"])
        if "msgid" in fields:
            text = fields.get("msgstr[0]", fields.get("msgstr", ""))
            is_fuzzy = any(line.startswith("#,") and "fuzzy" in line for line in block.splitlines())
            context = fields.get("msgctxt", "")
            one = Translation(fields["msgid"], fields.get("msgid_plural", ""), text, is_fuzzy, context)
            found[one.key] = one
    return found


def written(messages: Iterable[Message], texts: Mapping[str, str]) -> str:
    """By the first file that has each. No line numbers: an edit elsewhere in a file changes nothing here."""
    ordered = sorted(messages, key=lambda one: (one.files[0], one.singular, one.context))
    return "\n".join([HEADER, *(_block(one, texts.get(one.key, "")) for one in ordered)])


def _block(message: Message, text: str) -> str:
    lines = [f"#: {name}" for name in message.files]
    if "%" in message.singular:
        lines.append("#, python-format")
    if message.context:
        lines.append(f"msgctxt {_quoted(message.context)}")
    lines.append(f"msgid {_quoted(message.singular)}")
    if message.plural:
        lines += [f"msgid_plural {_quoted(message.plural)}", f"msgstr[0] {_quoted(text)}"]
    else:
        lines.append(f"msgstr {_quoted(text)}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'
