"""`?fields=a,b`: which members of an object, or of each row of a list, are wanted.

A null never travels without its reason: what says why a chosen field is null comes with it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rest_framework import status
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from consumers.api.schema.derived import read_serializer

UNKNOWN, REASON = "unknown", "unknown_reason"
# Null where nothing is unknown.
SAYS_WHY = (REASON, "unknown_reason_code")


def chosen_fields(request: Request, serializer: type[Serializer[Any]]) -> tuple[str, ...] | None:
    """In the order asked for; None: all. Raises ValidationError for a name that the answer does not have."""
    text = request.query_params.get("fields")
    if text is None:
        return None
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    allowed = list(serializer().fields)
    odd = [name for name in names if name not in allowed]
    if odd:
        sentence = f'"{odd[0]}" is not a field of it. Allowed are: {", ".join(allowed)}.'
        raise ValidationError({"fields": [sentence]})
    return names


def rows_of(
    serializer: type[Serializer[Any]], rows: Iterable[Any], names: Sequence[str] | None
) -> list[Mapping[str, Any]]:
    """Each as the document that it is answered as. What is not wanted is not computed."""
    if names is None:
        return list(serializer(rows, many=True).data)
    one = serializer()
    for name in set(one.fields) - {*names, UNKNOWN, REASON}:
        one.fields.pop(name)
    return [only(one.to_representation(row), names) for row in rows]


def only(document: Mapping[str, Any], names: Sequence[str] | None) -> Mapping[str, Any]:
    """What was chosen of a document, with the reasons of what of it is null."""
    if names is None:
        return document
    kept = {name: document[name] for name in names}
    why = {field: said for field, said in (document.get(UNKNOWN) or {}).items() if field.split(".")[0] in names}
    has_null = any(kept[name] is None for name in names if name not in SAYS_WHY)
    if UNKNOWN in document and UNKNOWN not in names and (has_null or why):
        kept[UNKNOWN] = why
    if REASON in document and has_null:
        kept[REASON] = document[REASON]
    return kept


def object_response(request: Request, answer: type, instance: Any, code: int = status.HTTP_200_OK) -> Response:
    """Of `answer`, a row or a serializer. Raises ValidationError for fields that it does not have. What an act answers
    is always whole."""
    serializer = read_serializer(answer)
    names = chosen_fields(request, serializer) if request.method in ("GET", "HEAD") else None
    return Response(only(serializer(instance).data, names), status=code)
