"""What an answer is written in: JSON; a list as CSV too, where `Accept` or `?format=` asks for it."""

from collections.abc import Iterable
from typing import Any

from rest_framework.exceptions import ValidationError
from rest_framework.negotiation import BaseContentNegotiation, DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class CsvLines(BaseRenderer):
    """Stands for CSV where it is chosen. The lines themselves are streamed by the list (lists.py), not rendered."""

    media_type = "text/csv"
    format = "csv"


class Negotiation(DefaultContentNegotiation):
    """A view whose `get` is described as a list (described.py) has CSV beside what it has else."""

    def select_renderer(
        self, request: Request, renderers: Iterable[Any], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        offered = [*renderers, CsvLines()] if _is_list(request) else list(renderers)
        wanted = request.query_params.get("format")
        allowed = [renderer.format for renderer in offered]
        if wanted is not None and wanted not in allowed:
            sentence = f'"{wanted}" is not allowed. Allowed are: {", ".join(allowed)}.'
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
