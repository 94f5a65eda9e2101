"""Rows of a list that is here as a whole: those that were asked for, in the order asked for."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from .parameters import Choice

Row = TypeVar("Row")


def ordering_by(*columns: str) -> Choice:
    """The parameter `ordering`."""
    choices = [f"{sign}{column}" for column in sorted(columns) for sign in ("", "-")]
    return Choice(choices, required=False, help_text="`-` for descending; unknown is last either way")


def taken(values: dict[str, Any], *names: str) -> dict[str, Any]:
    """Those of the names that were asked for, out of `values`."""
    return {name: values.pop(name) for name in names if name in values}


def narrowed(rows: Iterable[Row], wanted: Mapping[str, Any]) -> list[Row]:
    """Those whose attributes have the values of `wanted`, in the order of its `ordering`, ties as they were."""
    values = {name: value for name, value in wanted.items() if name != "ordering"}
    kept = [row for row in rows if all(getattr(row, name) == value for name, value in values.items())]
    return _ordered(kept, wanted["ordering"]) if wanted.get("ordering") else kept


def _ordered(rows: Sequence[Row], ordering: str) -> list[Row]:
    column = ordering.removeprefix("-")
    known = [row for row in rows if getattr(row, column) is not None]
    known.sort(key=lambda row: getattr(row, column), reverse=ordering.startswith("-"))
    return known + [row for row in rows if getattr(row, column) is None]
