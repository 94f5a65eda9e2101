"""Metadata of row fields, from which REST, its schema, CSV and pages derive what they show.

A field without it is public as its name and type say. Nothing here knows how an answer or a page is made.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from enum import StrEnum
from typing import Any, TypeVar

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consumers.vocabulary.reasons import reason_codes

Row = TypeVar("Row", bound=type)
Made = TypeVar("Made")
MESSAGES, QUEUES, CLIENTS, RATE, OFFSET = _("messages"), _("queues"), _("clients"), _("msg/s"), _("offset")
# A field that only our own code reads.
INSIDE: dict[str, Any] = {"inside": True}
# What a text may be, beside enums and such.
URL = "url"


@dataclass(frozen=True)
class Answer:
    """How the schema names and describes a row. `last`: public names that stand behind the others, in this order."""

    name: str
    text: str | None = None
    last: Sequence[str] = ()


class Number(StrEnum):
    """How a number is written on a page."""

    COUNT = "count"
    RATE = "rate"
    SHARE = "share"
    DURATION = "duration"


def public(
    help: str | None = None,
    *,
    of: Any = None,
    name: str | None = None,
    label: Promise | None = None,
    unit: Promise | None = None,
    number: Number | None = None,
    stored: str | None = None,
    column: int | None = None,
    tooltip: Promise | None = None,
) -> dict[str, Any]:
    """The metadata of a dataclass field. `help`: one sentence for the schema.

    `of`: what a text is, or each text of a list: an enum, a sequence of allowed values, UUID, URL. `name`: the public
    name where it is not the field's own. For pages: `label` of one to three words, `unit` and `number`, by default a
    count; `tooltip`, one sentence for its column head. For the list of groups: `stored`, the row that has it
    (groups/rows.py), and the place of its `column`.
    """
    metadata = {"help": help, "of": of, "name": name, "label": label, "unit": unit, "number": number, "stored": stored}
    metadata |= {"column": column, "tooltip": tooltip}
    return {key: value for key, value in metadata.items() if value is not None}


def answer(text: str | None = None, *, name: str | None = None, last: Sequence[str] = ()) -> Callable[[Row], Row]:
    """Decorates a row with its text in the schema, and with its name there if that is not the class's without Row."""

    def noted(row: Row) -> Row:
        row._answer = Answer(name or _name(row), text or answer_of(row).text, last)  # type: ignore[attr-defined]
        return row

    return noted


def answer_of(row: type) -> Answer:
    """Of what a row is derived from, the text alone holds for it too."""
    found = getattr(row, "_answer", Answer(_name(row)))
    return found if "_answer" in row.__dict__ else Answer(_name(row), found.text)


def copied(row: Callable[..., Made], source: Any, /, **others: Any) -> Made:
    """The row with `others`, and with what `source` calls as the row's fields that have no default."""
    return row(**_named(row, source, others))


def answered(row: Callable[..., Made], source: Any, why: Mapping[str, str | Promise], /, **others: Any) -> Made:
    """As `copied`, with the reason of each null, and with `codes` where the row has them. A text that `why` names is
    null where it is empty.
    """
    found = _named(row, source, others)
    values = {name: None if value == "" and name in why else value for name, value in found.items()}
    unknown = unknown_of(values, why)
    has_codes = any(one.name == "codes" for one in fields(row))  # type: ignore[arg-type]
    return row(**values, unknown=unknown, **({"codes": reason_codes(values | unknown)} if has_codes else {}))


def _named(row: Any, source: Any, others: Mapping[str, Any]) -> dict[str, Any]:
    needed = [one.name for one in fields(row) if one.default is one.default_factory is MISSING]
    return {**{name: getattr(source, name) for name in needed if name not in others and name != "unknown"}, **others}


def unknown_of(values: Mapping[str, Any], reasons: Mapping[str, str | Promise]) -> dict[str, str]:
    """The reason of each null of a row. A null without a reason is an error."""
    return {name: _worded(reasons[name]) for name, value in values.items() if value is None}


def given(reasons: Mapping[str, str | None]) -> dict[str, str]:
    """Without the fields that have no reason, as they are known."""
    return {name: reason for name, reason in reasons.items() if reason is not None}


def _worded(reason: str | Promise) -> str:
    """A reason with a code keeps it."""
    return reason if isinstance(reason, str) else str(reason)


def _name(row: type) -> str:
    return row.__name__.removesuffix("Row")
