"""What the OpenAPI schema says beyond the views: tokens, pages, problems."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema, inline_serializer
from rest_framework import serializers

from consumers.rest.requests import Parameters

from .derived import read_serializer


class TokenScheme(OpenApiAuthenticationExtension):
    target_class = "consumers.rest.access.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "`Token …`, made by `manage.py token create USER`",
        }


class ProblemSerializer(serializers.Serializer[Any]):
    """An RFC 9457 problem document."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()

    def get_fields(self) -> dict[str, Any]:
        """`errors` is what a serializer calls its own, so that it cannot be declared as the others are."""
        errors = serializers.DictField(
            required=False,
            help_text="By parameter: what is wrong with it and what is allowed, as sentences; inside as the body is",
        )
        reset = serializers.UUIDField(required=False, help_text="The reset that is kept as refused, with this reason")
        return {**super().get_fields(), "errors": errors, "reset": reset}


PROBLEM = "application/problem+json"
JSON, CSV = "application/json", "text/csv"
# Whoever asks: not logged in, may not, asks for what is written in no way that we know, too often, or while the
# database does not answer.
ANY_PROBLEMS = (401, 403, 406, 429, 503)
BODY_PROBLEMS = (400, 413, 415)


def described(
    operation: str,
    answer: Any,
    *,
    parameters: type[serializers.Serializer[Any]] = Parameters,
    paged: bool = False,
    beside: dict[str, serializers.Field[Any, Any, Any, Any]] | None = None,
    under: str = "results",
) -> Any:
    """Describes a GET: its answer (`paged`: pages of it, with what each has beside), its parameters, its problems.

    What is paged is answered as CSV too, so that its `get` must answer with lists.list_response.
    """
    answer = whole = read_serializer(answer)
    responses: dict[Any, Any] = {304: OpenApiResponse(description="The caller has it already, by `If-None-Match`")}
    if paged:
        page = {
            "count": serializers.IntegerField(),
            "next": serializers.URLField(allow_null=True),
            "previous": serializers.URLField(allow_null=True),
            under: answer(many=True),
            **(beside or {}),
        }
        whole = inline_serializer(f"{operation.title().replace('_', '')}Page", page)
        responses[(200, CSV)] = OpenApiTypes.STR
    problems = (400, 404, *ANY_PROBLEMS)
    described = extend_schema(
        operation_id=operation,
        # Of one without any, nothing can be made.
        parameters=[*([parameters] if parameters().fields else []), *_shape(answer, paged)],
        responses={(200, JSON): whole} | responses | problems_of(*problems),
    )

    def mark(get: Any) -> Any:
        get.is_list = paged
        return described(get)

    return mark


def acted(operation: str, request: type[serializers.Serializer[Any]] | None, answer: Any, code: int) -> Any:
    """Describes a POST that does something: its body, its answer, its problems."""
    problems = problems_of(404, 409, *ANY_PROBLEMS, *BODY_PROBLEMS)
    answers = {code: None if answer is None else read_serializer(answer)}
    return extend_schema(operation_id=operation, request=request, responses=answers | problems)


def problems_of(*codes: int) -> dict[tuple[int, str], Any]:
    return {(code, PROBLEM): ProblemSerializer for code in sorted(codes)}


def _shape(answer: type[serializers.Serializer[Any]], is_list: bool) -> list[OpenApiParameter]:
    """The parameters that every answer has (parameters.py)."""
    names = {"type": "array", "minItems": 1, "items": {"type": "string", "enum": list(answer().fields)}}
    said = "Only these, with the reasons of those that are null; separated by commas"
    formats = ["json", "csv"] if is_list else ["json"]
    return [
        OpenApiParameter("fields", names, description=said, style="form", explode=False),
        OpenApiParameter("format", str, enum=formats, description="Else as the header `Accept` says"),
    ]
