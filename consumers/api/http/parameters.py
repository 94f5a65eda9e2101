"""What may stand in a query string: anything else is refused, with what is allowed; and lists narrowed by it."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from rest_framework import serializers
from rest_framework.request import Request

PAGE = ("page", "page_size")
# What selectors call the two ends of a range: `from` is a word of Python's own.
RANGE = {"from": "since", "to": "until"}
# Of one page.
MOST_ROWS = 1_000
# Of a page beyond it no database could count the rows before.
LAST_PAGE = 1_000_000_000
FIRST_YEAR, LAST_YEAR = 1970, 2999


class Parameters(serializers.Serializer[Any]):
    """The parameters of one resource. A name that is not among them is an error, not ignored.

    `shape`: those that every answer has and that are looked at where it is made (objects.py, negotiation.py).
    `since`: the help text of `from`, if there is one: a word of Python's own, so that it cannot be declared.
    """

    shape: tuple[str, ...] = ("fields", "format")
    since: str | None = None

    def get_fields(self) -> dict[str, Any]:
        fields = super().get_fields()
        return fields if self.since is None else {"from": Moment(required=False, help_text=self.since), **fields}

    @classmethod
    def of(cls, request: Request) -> dict[str, Any]:
        """The checked values of a request; raises ValidationError."""
        parameters = cls(data=request.query_params.dict())
        parameters.is_valid(raise_exception=True)
        return dict(parameters.validated_data)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        allowed = sorted({*self.fields, *self.shape})
        unknown = [name for name in self.initial_data if name not in allowed]
        if unknown:
            sentence = f"This parameter is not known. Allowed are: {', '.join(allowed)}."
            raise serializers.ValidationError({name: [sentence] for name in unknown})
        return attrs


class Moment(serializers.DateTimeField):
    """A time with room before and after it: an hour before the first that there is, is none."""

    default_error_messages = {"range": "A time lies in the years from 1970 to 2999."}

    def to_internal_value(self, value: Any) -> datetime:
        moment: datetime = super().to_internal_value(value)
        if not FIRST_YEAR <= moment.year <= LAST_YEAR:
            self.fail("range")
        return moment


class Choice(serializers.ChoiceField):
    """A choice whose refusal names what is allowed."""

    def __init__(self, choices: Iterable[Any], **options: Any) -> None:
        super().__init__(list(choices), **options)
        allowed = ", ".join(str(choice) for choice in self.choices)
        self.error_messages["invalid_choice"] = f'"{{input}}" is not allowed. Allowed are: {allowed}.'


class Paging(Parameters):
    page = serializers.IntegerField(default=1, min_value=1, max_value=LAST_PAGE, help_text="From 1")
    page_size = serializers.IntegerField(default=100, min_value=1, max_value=MOST_ROWS)


class Ranged(Parameters):
    """`from` and `to`: what happened in [from, to)."""

    since = "ISO 8601; from it on"
    to = Moment(required=False, help_text="ISO 8601; before it")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        values = super().validate(attrs)
        if "from" in values and "to" in values and values["from"] >= values["to"]:
            raise serializers.ValidationError({"from": ["The range is empty: 'from' must be before 'to'."]})
        return values


class Exported(Parameters):
    """Of a resource that is a file, whole and in one shape."""

    shape = ()


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
