"""Rules, channels, silences and notes over REST: each is read, made, replaced, changed and removed in one way."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from django.db import IntegrityError, transaction
from django.db.models import Model
from django.utils import timezone
from rest_framework import status
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from consumers.alerts.fields import EntryField, defaults_of
from consumers.alerts.refused import AlertRefused
from consumers.rest.answers import object_response
from consumers.rest.problems import Refused
from consumers.rest.requests import Parameters, Strict, said

from .serializers import refused

Row = TypeVar("Row", bound=Model)
MEANWHILE = "Somebody else kept one of this name, or removed what it is about, meanwhile: look at what there is."


@dataclass(frozen=True)
class Resource(Generic[Row]):
    """One kind of row. A refusal (AlertRefused) is answered field by field, or as 409.

    `fields`: those that have their default again where a replacement does not name them. `find(id, now)`: what is
    answered of one; None where there is none. `keep(fields, row, by, now)`: the row with these fields, or a new one
    where it is None.
    """

    name: str
    model: type[Row]
    answer: type
    request: type[Strict]
    fields: Sequence[EntryField]
    find: Callable[[int, datetime], Any]
    keep: Callable[[Mapping[str, Any], Row | None, Any, datetime], Row]
    remove: Callable[[Row, Any, datetime], None]

    def found(self, pk: int, *, is_held: bool = False) -> Row:
        """`is_held`: nobody else changes it until the transaction ends. Raises NotFound."""
        rows = self.model._default_manager.all()
        row: Row | None = (rows.select_for_update() if is_held else rows).filter(pk=pk).first()
        if row is None:
            raise self._missing(pk)
        return row

    def read(self, request: Request, pk: int) -> Response:
        Parameters.of(request)
        return object_response(request, self.answer, self._shown(pk))

    def made(self, request: Request) -> Response:
        return self._kept(request, None, said(self.request, request), status.HTTP_201_CREATED)

    @transaction.atomic
    def replaced(self, request: Request, pk: int) -> Response:
        found = self.found(pk, is_held=True)
        return self._kept(request, found, {**defaults_of(self.fields), **said(self.request, request)})

    @transaction.atomic
    def changed(self, request: Request, pk: int) -> Response:
        found = self.found(pk, is_held=True)
        return self._kept(request, found, said(self.request, request, partial=True))

    def removed(self, request: Request, pk: int) -> Response:
        self._remove(request, pk)
        return Response(status=status.HTTP_204_NO_CONTENT)

    def ended(self, request: Request, pk: int) -> Response:
        """Of a kind that stays, and is over."""
        self._remove(request, pk)
        return self._answered(request, pk)

    def _kept(self, request: Request, row: Row | None, fields: dict[str, Any], code: int = 200) -> Response:
        with _refusals():
            kept = self.keep(fields, row, request.user, timezone.now())
        return self._answered(request, kept.pk, code)

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
    except AlertRefused as refusal:
        raise refused(refusal) from None
    except IntegrityError:
        raise Refused(MEANWHILE) from None
