"""The messages that the code marks: from Python by its syntax tree, from templates by Django's own reader.

Names of the columns of models are messages too, which the admin pages show.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from django.utils.translation.template import templatize

from consumers.words.columns import column_name

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("consumers", "dashboard")
MODELS = ROOT / "consumers" / "models"
SINGULAR = {"_", "gettext", "gettext_lazy", "gettext_noop"}
PLURAL = {"ngettext", "ngettext_lazy"}
CONTEXT = {"pgettext", "pgettext_lazy"}
# Stands in a key between the context of a message and its msgid, as in a .mo file.
END_OF_CONTEXT = "\x04"
# What Django's reader of templates writes: calls whose arguments are string literals.
CALL = re.compile(
    r"\b(?P<name>ngettext|pgettext|gettext|_)\("
    r"\s*u?(?P<one>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
    r"(?:,\s*u?(?P<many>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"))?"
)


@dataclass
class Message:
    """`plural` is empty for a message with one form only, `context` for most messages; `files` in their order."""

    singular: str
    plural: str = ""
    files: list[str] = field(default_factory=list)
    context: str = ""

    @property
    def key(self) -> str:
        return key(self.context, self.singular)


def key(context: str, singular: str) -> str:
    return f"{context}{END_OF_CONTEXT}{singular}" if context else singular


def extracted() -> dict[str, Message]:
    """By key. A message that has a plural in one place has that plural everywhere."""
    found: dict[str, Message] = {}
    for path in sources():
        name = str(path.relative_to(ROOT))
        for one in messages_of(path):
            message = found.setdefault(one.key, one)
            message.plural = message.plural or one.plural
            if name not in message.files:
                message.files.append(name)
    return found


def sources() -> Iterator[Path]:
    yield from sorted((ROOT / "templates").rglob("*.html"))
    for package in PACKAGES:
        yield from sorted((ROOT / package).rglob("*.py"))


def messages_of(path: Path) -> Iterator[Message]:
    text = path.read_text()
    yield from of_template(text) if path.suffix == ".html" else of_python(text)
    if path.parent == MODELS:
        yield from of_columns(text)


def of_python(text: str) -> Iterator[Message]:
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        words = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        if name in SINGULAR and len(node.args) == len(words) == 1:
            yield Message(words[0])
        elif name in PLURAL and len(words) == 2:
            yield Message(words[0], words[1])
        elif name in CONTEXT and len(words) == 2:
            yield Message(words[1], context=words[0])


def of_columns(text: str) -> Iterator[Message]:
    """The names of columns, as the admin pages have them."""
    for model in ast.walk(ast.parse(text)):
        for node in model.body if isinstance(model, ast.ClassDef) else ():
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                kind = ast.unparse(node.value.func)
                if kind.startswith("models.") and kind.endswith(("Field", "Key")):
                    yield Message(column_name(ast.unparse(node.targets[0]), model.name), context="field")


def of_template(text: str) -> Iterator[Message]:
    for call in CALL.finditer(templatize(text)):
        words = [ast.literal_eval(one) for one in (call["one"], call["many"]) if one]
        if call["name"] == "pgettext":
            yield Message(words[1], context=words[0])
        else:
            yield Message(*words if call["name"] == "ngettext" else words[:1])
