"""Serializers of requests, made of the declared fields; who may send them, and how a refusal is answered."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rest_framework import serializers

from consumers.alerts.fields import EntryField, Shape
from consumers.alerts.refused import MAY_MANAGE, AlertRefused, why_no_role
from consumers.rest.access import MayChange
from consumers.rest.problems import Refused
from consumers.rest.requests import Strict


class MayManageAlerts(MayChange):
    permission = MAY_MANAGE
    why_not = staticmethod(why_no_role)


class Text(serializers.CharField):
    """Null and "" both say nothing: answers have null for it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_null=True, allow_blank=True, required=False, **options)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        value = super().run_validation(data)
        return "" if value is None else value


class Scope(serializers.CharField):
    """What a rule, silence or channel is narrowed to. Null is everything; an empty text is refused: it is a mistake."""

    default_error_messages = {"blank": "An empty text names nothing: give null, or leave it out, for all."}

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_null=True, required=False, **options)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        value = super().run_validation(data)
        return "" if value is None else value


class Labels(serializers.DictField):
    def __init__(self, **options: Any) -> None:
        super().__init__(child=serializers.CharField(), required=False, help_text="{label: value}", **options)


class Chosen(serializers.ListField):
    """Null is all of them. An empty list is refused: it would widen what the channel takes."""

    default_error_messages = {"empty": "Nothing is chosen: name one at least, or give null, for all."}

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, allow_null=True, allow_empty=False, **options)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        value = super().run_validation(data)
        return [] if value is None else value


def serializer_of(
    name: str, fields: Sequence[EntryField], description: str = "", /, **others: serializers.Field[Any, Any, Any, Any]
) -> type[Strict]:
    """`others`: fields that need a type of their own."""
    made = {field.name: SERIALIZED[field.shape](field) for field in fields if field.name not in others}
    return type(f"{name}Serializer", (Strict,), {"__doc__": description, "__module__": __name__, **made, **others})


def _text(field: EntryField) -> serializers.Field[Any, Any, Any, Any]:
    return (serializers.CharField if field.is_required else Text)(max_length=field.longest, **_help(field))


def _states(field: EntryField) -> serializers.Field[Any, Any, Any, Any]:
    child = serializers.ChoiceField(list(field.choices))
    return serializers.ListField(child=child, required=False, allow_null=True, allow_empty=False, **_help(field))


def _help(field: EntryField) -> dict[str, Any]:
    return {"help_text": field.help_text} if field.help_text else {}


SERIALIZED: dict[Shape, Callable[[EntryField], serializers.Field[Any, Any, Any, Any]]] = {
    Shape.TEXT: _text,
    Shape.LINES: _text,
    Shape.SCOPE: lambda field: Scope(max_length=field.longest, **_help(field)),
    Shape.TRUTH: lambda field: serializers.BooleanField(required=False, **_help(field)),
    Shape.NUMBER: lambda field: serializers.FloatField(required=False, allow_null=True, **_help(field)),
    Shape.SECONDS: lambda field: serializers.FloatField(required=False, min_value=0, **_help(field)),
    Shape.WHOLE: lambda field: serializers.IntegerField(
        required=False, min_value=0, max_value=field.longest, **_help(field)
    ),
    Shape.CHOICE: lambda field: serializers.ChoiceField(field.choices.choices, **_help(field)),
    Shape.CHOICES: lambda field: Chosen(child=serializers.ChoiceField(field.choices.choices), **_help(field)),
    Shape.STATES: _states,
    Shape.IDS: lambda field: Chosen(child=serializers.IntegerField(min_value=1), **_help(field)),
    Shape.LABELS: lambda field: Labels(),
    Shape.OVERRIDES: lambda field: serializers.ListField(child=serializers.DictField(), required=False, **_help(field)),
    Shape.TIME: lambda field: serializers.DateTimeField(required=field.is_required, **_help(field)),
}


def not_valid(errors: Mapping[str, str]) -> serializers.ValidationError:
    return serializers.ValidationError({name: [sentence] for name, sentence in errors.items()})


def refused(refusal: AlertRefused) -> Exception:
    """What is wrong with a field is 400; what cannot be as things stand is 409."""
    return Refused(str(refusal)) if "" in refusal.errors else not_valid(refusal.errors)
