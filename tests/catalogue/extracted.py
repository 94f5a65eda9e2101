"""The messages that the code marks: from Python by its syntax tree, from templates by Django's own reader."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("consumers", "dashboard")
SINGULAR = {"_", "gettext", "gettext_lazy", "gettext_noop"}
PLURAL = {"ngettext", "ngettext_lazy"}
# What Django's reader of templates writes: calls whose arguments are string literals.
CALL = re.compile(
    r"\b(?P<name>ngettext|gettext|_)\("
    r"\s*u?(?P<one>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
    r"(?:,\s*u?(?P<many>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"))?"
)


@dataclass
class Message:
    """`plural` is empty where there is one form alone; `files` are those that have it, in their order."""

    singular: str
    plural: str = ""
    files: list[str] = field(default_factory=list)


def extracted() -> dict[str, Message]:
    """By msgid. One that stands somewhere with a plural has that plural everywhere."""
    found: dict[str, Message] = {}
    for path in sources():
        name = str(path.relative_to(ROOT))
        for singular, plural in messages_of(path):
            message = found.setdefault(singular, Message(singular))
            message.plural = message.plural or plural
            if name not in message.files:
                message.files.append(name)
    return found


def sources() -> Iterator[Path]:
    yield from sorted((ROOT / "templates").rglob("*.html"))
    for package in PACKAGES:
        yield from sorted((ROOT / package).rglob("*.py"))


def messages_of(path: Path) -> Iterator[tuple[str, str]]:
    text = path.read_text()
    yield from of_template(text) if path.suffix == ".html" else of_python(text)


def of_python(text: str) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        words = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        if name in SINGULAR and len(node.args) == len(words) == 1:
            yield words[0], ""
        elif name in PLURAL and len(words) == 2:
            yield words[0], words[1]


def of_template(text: str) -> Iterator[tuple[str, str]]:
    for call in CALL.finditer(templatize(text)):
        many = call["many"] if call["name"] == "ngettext" else None
        yield ast.literal_eval(call["one"]), ast.literal_eval(many) if many else ""
