"""One object as an answer: whole, or what of it was chosen."""

from typing import Any

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from .chosen import chosen_fields, only
from .derived import read_serializer


def object_response(request: Request, answer: type, instance: Any, code: int = status.HTTP_200_OK) -> Response:
    """Of `answer`, a row or a serializer. Raises ValidationError for fields that it does not have. What an act answers
    is always whole."""
    serializer = read_serializer(answer)
    names = chosen_fields(request, serializer) if request.method in ("GET", "HEAD") else None
    return Response(only(serializer(instance).data, names), status=code)
