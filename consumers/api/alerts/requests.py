"""Who may change what alerts are made of, what requests may say of it, and how what is refused is answered."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from consumers.alerts.permission import MAY_MANAGE, why_no_role
from consumers.alerts.refused import AlertRefused
from consumers.rest.access import MayChange
from consumers.rest.problems import Refused


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


def not_valid(errors: Mapping[str, str]) -> serializers.ValidationError:
    return serializers.ValidationError({name: [sentence] for name, sentence in errors.items()})


def refused(refusal: AlertRefused) -> Exception:
    """What is wrong with a field is 400; what cannot be as things stand is 409."""
    return Refused(str(refusal)) if "" in refusal.errors else not_valid(refusal.errors)
