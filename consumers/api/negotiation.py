"""How a resource that is no JSON still answers its problems as JSON."""

from typing import Any

from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.request import Request


class OneKind(BaseContentNegotiation):
    """Whatever a client prefers; `format` may be a parameter of the resource's own."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        return parsers[0]

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        return renderers[0], renderers[0].media_type
