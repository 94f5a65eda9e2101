"""What the OpenAPI schema says beyond the views: tokens, pages, problems."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers


class TokenScheme(OpenApiAuthenticationExtension):
    target_class = "consumers.api.authentication.TokenAuthentication"
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
            child=serializers.ListField(child=serializers.CharField()),
            required=False,
            help_text="By parameter: what is wrong with it, and what is allowed",
        )
        reset = serializers.UUIDField(required=False, help_text="The reset that is kept as refused, with this reason")
        return {**super().get_fields(), "errors": errors, "reset": reset}


PROBLEM = "application/problem+json"


def described(
    operation: str,
    answer: Any,
    *,
    parameters: type[serializers.Serializer[Any]] | None = None,
    paged: bool = False,
    beside: dict[str, serializers.Field[Any, Any, Any, Any]] | None = None,
) -> Any:
    """Describes a GET: its answer (`paged`: pages of it, with what each has beside), its parameters, its problems."""
    if paged:
        answer = inline_serializer(
            f"{operation.title().replace('_', '')}Page",
            {
                "count": serializers.IntegerField(),
                "next": serializers.URLField(allow_null=True),
                "previous": serializers.URLField(allow_null=True),
                "results": answer(many=True),
                **(beside or {}),
            },
        )
    problems = (400, 401, 403, 404) if parameters else (401, 403, 404)
    return extend_schema(
        operation_id=operation,
        parameters=[parameters] if parameters else [],
        responses={200: answer} | {(status, PROBLEM): ProblemSerializer for status in problems},
    )


def acted(
    operation: str, request: type[serializers.Serializer[Any]] | None, answer: Any, code: int, *more_problems: int
) -> Any:
    """Describes a POST that does something: its body, its answer, its problems."""
    problems = (400, 401, 403, 404, 409, *more_problems)
    return extend_schema(
        operation_id=operation,
        request=request,
        responses={code: answer} | {(status, PROBLEM): ProblemSerializer for status in problems},
    )
