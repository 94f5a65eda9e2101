"""Requests: query strings, bodies, and the format that is wanted."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NoReturn, TypeVar

from django.utils.translation import gettext, gettext_lazy
from rest_framework import serializers
from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.negotiation import BaseContentNegotiation, DefaultContentNegotiation
from rest_framework.parsers import JSONParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.utils.json import strict_constant

from consumers.words.times import FIRST_YEAR, LAST_YEAR

# What may stand in a query string: anything else is refused, with what is allowed; and lists narrowed by it.
PAGE = ("page", "page_size")

# How queries name the two ends of a range: `from` is a keyword of Python.
RANGE = {"from": "since", "to": "until"}

# Of one page.
MOST_ROWS = 1_000

# Of a page beyond it no database could count the rows before.
LAST_PAGE = 1_000_000_000


class Parameters(serializers.Serializer[Any]):
    """The parameters of one resource. A name that is not among them is an error, not ignored.

    `shape`: those that every answer has and that are looked at where it is made (answers.py, `Negotiation`).
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
        if twice := [name for name, values in request.query_params.lists() if len(values) > 1]:
            sentence = gettext("The parameter is there more than once. Give it once.")
            raise ValidationError({name: [sentence] for name in twice})
        parameters = cls(data=request.query_params.dict())
        parameters.is_valid(raise_exception=True)
        return dict(parameters.validated_data)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        allowed = sorted({*self.fields, *self.shape})
        unknown = [name for name in self.initial_data if name not in allowed]
        if unknown:
            sentence = gettext("Unknown parameter. Allowed: %(allowed)s.") % {"allowed": ", ".join(allowed)}
            raise serializers.ValidationError({name: [sentence] for name in unknown})
        return attrs


class Moment(serializers.DateTimeField):
    """A time with room before and after it: an hour before the first that there is, is none."""

    default_error_messages = {"range": gettext_lazy("The time must be in the years from 1970 to 2999.")}

    def to_internal_value(self, value: Any) -> datetime:
        moment: datetime = super().to_internal_value(value)
        if not FIRST_YEAR <= moment.year <= LAST_YEAR:
            self.fail("range")
        return moment


class Choice(serializers.ChoiceField):
    """A choice whose refusal names the allowed values."""

    default_error_messages = {"invalid_choice": gettext_lazy('"{input}" is not allowed. Allowed: {allowed}.')}

    def __init__(self, choices: Iterable[Any], **options: Any) -> None:
        super().__init__(list(choices), **options)

    def fail(self, key: str, **values: Any) -> NoReturn:
        super().fail(key, allowed=", ".join(map(str, self.choices)), **values)


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
            raise serializers.ValidationError({"from": [gettext("The range is empty: 'from' must be before 'to'.")]})
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
    chosen = [row for row in rows if all(getattr(row, name) == value for name, value in values.items())]
    return _ordered(chosen, wanted["ordering"]) if wanted.get("ordering") else chosen


def _ordered(rows: Sequence[Row], ordering: str) -> list[Row]:
    column = ordering.removeprefix("-")
    known = [row for row in rows if getattr(row, column) is not None]
    known.sort(key=lambda row: getattr(row, column), reverse=ordering.startswith("-"))
    return known + [row for row in rows if getattr(row, column) is None]


# The body of a request: JSON that says each thing once, no deeper than anything here is asked for, and no more.
# Well below what Python's own stack takes, and above what any resource has.
DEEPEST = 20

# As many dead-letter messages as are kept of a group; a longer list costs seconds to check, entry by entry.
LONGEST = 20_000


class JsonBody(JSONParser):
    """One of two values of the same name would be dropped without a word, so that it is refused."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None) -> Any:
        """A charset that the header names has no meaning for JSON (RFC 8259, 11)."""
        try:
            document = json.loads(stream.read(), parse_constant=strict_constant, object_pairs_hook=_named_once)
        except RecursionError:
            raise _too_deep() from None
        except ValueError as error:
            raise ParseError(gettext("The body is not JSON: %(error)s") % {"error": error}) from None
        if _is_too_deep(document):
            raise _too_deep()
        if _is_too_long(document):
            raise ParseError(
                gettext("A list or object of the body has more than %(most)s entries. Ask for less at once.")
                % {"most": f"{LONGEST:,}"}
            )
        if not all(map(_can_be_kept, _texts(document))):
            sentence = gettext("A text contains NUL or half of a surrogate pair, which no database stores.")
            raise ValidationError({"non_field_errors": [sentence]})
        return document


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        [(twice, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise ParseError(gettext("The body has %(name)s twice. Give it once.") % {"name": json.dumps(twice)})
    return document


def _is_too_deep(document: Any) -> bool:
    level = [document]
    for _ in range(DEEPEST):
        inside = [one.values() if isinstance(one, dict) else one for one in level if isinstance(one, (dict, list))]
        level = [value for values in inside for value in values]
    return any(isinstance(one, (dict, list)) for one in level)


def _texts(document: Any) -> Iterator[str]:
    left = [document]
    while left:
        value = left.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            left += [*value, *value.values()]
        elif isinstance(value, list):
            left += value


def _can_be_kept(text: str) -> bool:
    """JSON can escape what UTF-8 cannot write."""
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _is_too_long(document: Any) -> bool:
    """Of a body that is not too deep."""
    if not isinstance(document, (dict, list)):
        return False
    return len(document) > LONGEST or any(
        map(_is_too_long, document.values() if isinstance(document, dict) else document)
    )


def _too_deep() -> ParseError:
    return ParseError(gettext("The body is nested more than %(levels)s levels deep.") % {"levels": DEEPEST})


class Strict(serializers.Serializer[Any]):
    """A misspelt name must not widen what is reset."""

    def to_internal_value(self, data: Any) -> Any:
        unknown = sorted(set(data) - set(self.fields), key=str) if isinstance(data, dict) else []
        if unknown:
            sentence = gettext("Unknown field. Allowed: %(allowed)s.") % {"allowed": ", ".join(sorted(self.fields))}
            raise serializers.ValidationError({str(name): [sentence] for name in unknown})
        return super().to_internal_value(data)


class NothingSerializer(Strict):
    """A body that says nothing."""


def body_of(
    serializer: type[serializers.Serializer[Any]], request: Request, *, partial: bool = False
) -> dict[str, Any]:
    """Returns the validated body of a request. `partial`: any of the fields may be missing. Raises ValidationError."""
    body = serializer(data=request.data, partial=partial)
    body.is_valid(raise_exception=True)
    return dict(body.validated_data)


# What an answer is written in: JSON; a list as CSV too, where `Accept` or `?format=` asks for it.
class CsvLines(BaseRenderer):
    """Stands for CSV where it is chosen. The lines themselves are streamed by the list (answers.py), not rendered."""

    media_type = "text/csv"
    format = "csv"


class Negotiation(DefaultContentNegotiation):
    """A view whose `get` is described as a list (schema.py) offers CSV too."""

    def select_renderer(
        self, request: Request, renderers: Iterable[Any], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        offered = [*renderers, CsvLines()] if _is_list(request) else list(renderers)
        wanted = request.query_params.get("format")
        allowed = [renderer.format for renderer in offered]
        if wanted is not None and wanted not in allowed:
            sentence = gettext('"%(wanted)s" is not allowed. Allowed: %(allowed)s.') % {
                "wanted": wanted,
                "allowed": ", ".join(allowed),
            }
            raise ValidationError({"format": [sentence]})
        return super().select_renderer(request, offered, format_suffix)


class OneKind(BaseContentNegotiation):
    """Of a resource that is no JSON, whatever a client prefers; its problems are JSON still.

    `format` may be a parameter of the resource's own.
    """

    def select_parser(self, request: Request, parsers: Any) -> Any:
        return parsers[0]

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        return renderers[0], renderers[0].media_type


def wants_csv(request: Request) -> bool:
    return isinstance(getattr(request, "accepted_renderer", None), CsvLines)


def _is_list(request: Request) -> bool:
    get = getattr(request.parser_context["view"], "get", None)
    return request.method in ("GET", "HEAD") and getattr(get, "is_list", False)
