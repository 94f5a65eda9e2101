"""One object as an answer: whole, or what of it was chosen."""

from collections.abc import Mapping
from typing import Any

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from .chosen import chosen_fields, only


def object_response(request: Request, serializer: type[Serializer[Any]], instance: Any) -> Response:
    """Of a row. Raises ValidationError for fields that it does not have."""
    names = chosen_fields(request, serializer)
    return Response(only(serializer(instance).data, names))


def document_response(
    request: Request, serializer: type[Serializer[Any]], document: Mapping[str, Any], code: int = status.HTTP_200_OK
) -> Response:
    """Of a document as `serializer` describes it. What an act answers is always whole."""
    names = chosen_fields(request, serializer) if request.method in ("GET", "HEAD") else None
    return Response(only(document, names), status=code)
