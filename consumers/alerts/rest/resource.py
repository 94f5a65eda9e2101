"""Rules, channels, silences and notes over REST: one way to read, make, replace, change and remove each."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from django.db import IntegrityError, transaction
from django.db.models import Model
from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework import serializers, status
from rest_framework.exceptions import NotFound
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.alerts.fields import MAY_MANAGE, EntryField, Shape, defaults_of
from consumers.alerts.weekly import DAYS
from consumers.rest.access import MayChange
from consumers.rest.answers import ListedRows, list_response, object_response
from consumers.rest.problems import Refused
from consumers.rest.requests import PAGE, Paging, Parameters, Strict, body_of, taken
from consumers.rest.schema import acted, described


# Serializers of requests, made of the declared fields; who may send them, and how a refusal is answered.
class MayManageAlerts(MayChange):
    """Of one cluster at least. `consumers/alerts/` refuses what is of another one."""

    permission = MAY_MANAGE


class MayManageAllAlerts(MayManageAlerts):
    is_of_all = True


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


class WeeklyRequestSerializer(Strict):
    """By the clock of a time zone. An end that is not after the start is of the next day."""

    days = serializers.ListField(child=serializers.ChoiceField(DAYS), allow_empty=False)
    start = serializers.CharField(help_text="HH:MM")
    end = serializers.CharField(help_text="HH:MM")
    time_zone = serializers.CharField(help_text="As `Europe/Berlin`")


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
    Shape.FINDINGS: lambda field: serializers.ListField(child=serializers.CharField(), required=False, **_help(field)),
    Shape.WEEKLY: lambda field: WeeklyRequestSerializer(required=False, allow_null=True, **_help(field)),
    Shape.TIME: lambda field: serializers.DateTimeField(required=field.is_required, **_help(field)),
}


Row = TypeVar("Row", bound=Model)

MEANWHILE = "Another user saved the same name, or removed what it refers to, in the meantime: check what exists."


@dataclass(frozen=True)
class Resource(Generic[Row]):
    """One kind of row. A refusal (AlertRefused) is answered field by field, or as 409.

    `operation`: what it is called in the names of operations. `fields`: those that have their default again where a
    replacement does not name them. `find(id, now)`: what is answered of one; None where there is none. `rows(now, page,
    page_size, …)`: a page of all, and how many there are; `parameters` filter them. `keep(fields, row, by, now)`: the
    row with these fields, or a new one where it is None; one that never `changes` is only made and ended. `texts`: what
    the schema says of each method. `permission`: for whoever changes one.
    """

    name: str
    operation: str
    model: type[Row]
    answer: type
    request: type[Strict]
    fields: Sequence[EntryField]
    find: Callable[[int, datetime], Any]
    rows: Callable[..., tuple[Sequence[Any], int]]
    keep: Callable[[Mapping[str, Any], Row | None, Any, datetime], Row]
    remove: Callable[[Row, Any, datetime], None]
    texts: Mapping[str, str]
    parameters: type[Paging] = Paging
    changes: bool = True
    permission: type[MayChange] = MayManageAllAlerts

    def views(self) -> tuple[type[APIView], type[APIView]]:
        """The view of the list, and that of one."""
        name, answer, body = self.operation, self.answer, self.request
        listed = described(f"{name}s", answer, parameters=self.parameters, paged=True)
        added = acted(f"add_{name}", body, answer, status.HTTP_201_CREATED)
        one = {"get": described(name, answer)(self._method("get", self.read))}
        if self.changes:
            one |= {
                "put": acted(f"replace_{name}", body, answer, 200)(self._method("put", self.replaced)),
                "patch": acted(f"change_{name}", body, answer, 200)(self._method("patch", self.changed)),
                "delete": acted(f"remove_{name}", None, None, 204)(self._method("delete", self.removed)),
            }
        else:
            one["delete"] = acted(f"end_{name}", None, answer, 200)(self._method("delete", self.ended))
        many = {"get": listed(self._method("list", self.listed)), "post": added(self._method("post", self.made))}
        return self._view(many), self._view(one)

    def _view(self, methods: Mapping[str, Callable[..., HttpResponseBase]]) -> type[APIView]:
        return type("ResourceView", (APIView,), {"permission_classes": [IsAuthenticated, self.permission], **methods})

    def _method(self, name: str, act: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        def method(view: APIView, request: Request, **place: int) -> HttpResponseBase:
            return act(request, *place.values())

        method.__doc__ = self.texts[name]
        return method

    def found(self, pk: int, *, is_held: bool = False) -> Row:
        """`is_held`: nobody else changes it until the transaction ends. Raises NotFound."""
        rows = self.model._default_manager.all()
        row: Row | None = (rows.select_for_update() if is_held else rows).filter(pk=pk).first()
        if row is None:
            raise self._missing(pk)
        return row

    def listed(self, request: Request) -> HttpResponseBase:
        values, now = self.parameters.of(request), timezone.now()
        paging = taken(values, *PAGE)

        def find(page: int, page_size: int) -> ListedRows:
            return ListedRows(*self.rows(now, page=page, page_size=page_size, **values))

        return list_response(request, self.answer, find, **paging)

    def read(self, request: Request, pk: int) -> Response:
        Parameters.of(request)
        return object_response(request, self.answer, self._shown(pk))

    def made(self, request: Request) -> Response:
        return self._kept(request, None, body_of(self.request, request), status.HTTP_201_CREATED)

    @transaction.atomic
    def replaced(self, request: Request, pk: int) -> Response:
        found = self.found(pk, is_held=True)
        return self._kept(request, found, {**defaults_of(self.fields), **body_of(self.request, request)})

    @transaction.atomic
    def changed(self, request: Request, pk: int) -> Response:
        found = self.found(pk, is_held=True)
        return self._kept(request, found, body_of(self.request, request, partial=True))

    def removed(self, request: Request, pk: int) -> Response:
        self._remove(request, pk)
        return Response(status=status.HTTP_204_NO_CONTENT)

    def ended(self, request: Request, pk: int) -> Response:
        """Of a kind that stays, and is over."""
        self._remove(request, pk)
        return self._answered(request, pk)

    def _kept(self, request: Request, row: Row | None, fields: dict[str, Any], code: int = 200) -> Response:
        with _refusals():
            saved = self.keep(fields, row, request.user, timezone.now())
        return self._answered(request, saved.pk, code)

    @transaction.atomic
    def _remove(self, request: Request, pk: int) -> None:
        with _refusals():
            self.remove(self.found(pk, is_held=True), request.user, timezone.now())

    def _answered(self, request: Request, pk: int, code: int = 200) -> Response:
        return object_response(request, self.answer, self._shown(pk), code)

    def _shown(self, pk: int) -> Any:
        row = self.find(pk, timezone.now())
        if row is None:
            raise self._missing(pk)
        return row

    def _missing(self, pk: int) -> NotFound:
        return NotFound(f"There is no {self.name} {pk}.")


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except IntegrityError:
        raise Refused(MEANWHILE) from None
