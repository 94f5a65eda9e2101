"""Serializers of answers, derived from the rows that are answered: names, order, types, nulls, choices and help texts.

A row is a dataclass of the queries; consumers/queries/declared.py has what its fields may say beside their types.
"""

from collections.abc import Mapping, Sequence
from dataclasses import Field, fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints
from uuid import UUID

from django.db.models import Choices
from rest_framework import serializers

from consumers.queries.declared import URL, answer_of

PLAIN: dict[Any, type[serializers.Field[Any, Any, Any, Any]]] = {
    bool: serializers.BooleanField,
    datetime: serializers.DateTimeField,
    float: serializers.FloatField,
    int: serializers.IntegerField,
    str: serializers.CharField,
    Any: serializers.JSONField,
    UUID: serializers.UUIDField,
    URL: serializers.URLField,
}


@cache
def read_serializer(answer: type) -> Any:
    """The serializer class of a row: always the same one, as the schema has one component for each name. A class that
    is a serializer already is its own."""
    return made_serializer(answer) if is_dataclass(answer) else answer


def made_serializer(row: type, **own: serializers.Field[Any, Any, Any, Any]) -> Any:
    """One whose fields `own`, by their public names, are not as the row's types say, or are properties of it."""
    said, hints = answer_of(row), get_type_hints(row)
    declared = {}
    for field in fields(row):
        if not field.metadata.get("inside"):
            name = field.metadata.get("name", field.name)
            declared[name] = own.pop(name, None) or _of_field(field, hints[field.name])
    if odd := [name for name in own if not hasattr(row, name)]:
        raise TypeError(f"{row.__name__} has no {', '.join(odd)}.")
    declared |= own
    for name in said.last:
        declared[name] = declared.pop(name)
    made = type(f"{said.name}Serializer", (serializers.Serializer,), {"__doc__": said.text, "__module__": __name__})
    # As attributes some names would be taken for the serializer's own: `source`, `errors`, `read_only`.
    made._declared_fields = declared  # type: ignore[attr-defined]
    return made


def _of_field(field: "Field[Any]", hint: Any) -> Any:
    options = {"help_text": field.metadata["help"]} if "help" in field.metadata else {}
    if "name" in field.metadata:
        options["source"] = field.name
    return _of_type(hint, field.metadata.get("of"), **options)


def _of_type(hint: Any, of: Any, **options: Any) -> Any:
    kind, inner = get_origin(hint), get_args(hint)
    if kind in (Union, UnionType):
        [hint] = (one for one in inner if one is not NoneType)
        return _of_type(hint, of, allow_null=True, **options)
    if is_dataclass(hint):
        return read_serializer(hint)(**options)  # type: ignore[arg-type]
    if kind is not None and issubclass(kind, Mapping):
        child = {} if inner[1] in (Any, object) else {"child": _of_type(inner[1], of)}
        return serializers.DictField(**child, **options)
    if kind is not None and issubclass(kind, Sequence):
        if is_dataclass(inner[0]):
            return read_serializer(inner[0])(many=True, **options)  # type: ignore[arg-type]
        return serializers.ListField(child=_of_type(inner[0], of), **options)
    if hint is Any:
        options["allow_null"] = True
    choices = _choices(hint if of is None else of)
    if choices is not None:
        return serializers.ChoiceField(choices, **options)
    return PLAIN[hint if of is None else of](**options)


def _choices(of: Any) -> Any:
    """None: it is no choice."""
    if isinstance(of, type):
        if issubclass(of, Choices):
            return of.choices
        return [one.value for one in of] if issubclass(of, Enum) else None
    return of if isinstance(of, (list, tuple)) else None
