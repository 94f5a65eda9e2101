"""The OpenAPI document, where it is made of the code: serializers of rows, descriptions of calls, and what is changed
in the document as a whole.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import Field, fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from http import HTTPStatus
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints
from uuid import UUID

from csp.constants import SELF, UNSAFE_INLINE
from csp.decorators import csp_update
from django.db.models import Choices
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema, inline_serializer
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework import serializers
from rest_framework.permissions import IsAuthenticated

from consumers.queries.declared import URL, answer_of
from consumers.rest.requests import Parameters

# Serializers of answers, derived from the rows that are answered: names, order, types, nulls, choices and help texts.
#
# A row is a dataclass of the queries; consumers/queries/declared.py has what its fields may say beside their types.

PLAIN: dict[Any, type[serializers.Field[Any, Any, Any, Any]]] = {
    bool: serializers.BooleanField,
    datetime: serializers.DateTimeField,
    float: serializers.FloatField,
    int: serializers.IntegerField,
    str: serializers.CharField,
    Any: serializers.JSONField,
    UUID: serializers.UUIDField,
    URL: serializers.URLField,
}


@cache
def read_serializer(answer: type) -> Any:
    """The serializer class of a row: always the same one, as the schema has one component for each name. A class that
    is a serializer already is its own."""
    return made_serializer(answer) if is_dataclass(answer) else answer


def made_serializer(row: type, **own: serializers.Field[Any, Any, Any, Any]) -> Any:
    """Makes a serializer of a row. `own`: by public name, fields that differ from the row's types or are properties of
    it."""
    of_row, hints = answer_of(row), get_type_hints(row)
    declared = {}
    for field in fields(row):
        if not field.metadata.get("inside"):
            name = field.metadata.get("name", field.name)
            declared[name] = own.pop(name, None) or _of_field(field, hints[field.name])
    if odd := [name for name in own if not hasattr(row, name)]:
        raise TypeError(f"{row.__name__} has no {', '.join(odd)}.")
    declared |= own
    for name in of_row.last:
        declared[name] = declared.pop(name)
    made = type(f"{of_row.name}Serializer", (serializers.Serializer,), {"__doc__": of_row.text, "__module__": __name__})
    # As attributes some names would be taken for the serializer's own: `source`, `errors`, `read_only`.
    made._declared_fields = declared  # type: ignore[attr-defined]
    return made


def _of_field(field: "Field[Any]", hint: Any) -> Any:
    options = {"help_text": field.metadata["help"]} if "help" in field.metadata else {}
    if "name" in field.metadata:
        options["source"] = field.name
    return _of_type(hint, field.metadata.get("of"), **options)


def _of_type(hint: Any, of: Any, **options: Any) -> Any:
    kind, inner = get_origin(hint), get_args(hint)
    if kind in (Union, UnionType):
        [hint] = (one for one in inner if one is not NoneType)
        return _of_type(hint, of, allow_null=True, **options)
    if is_dataclass(hint):
        return read_serializer(hint)(**options)  # type: ignore[arg-type]
    if kind is not None and issubclass(kind, Mapping):
        child = {} if inner[1] in (Any, object) else {"child": _of_type(inner[1], of)}
        return serializers.DictField(**child, **options)
    if kind is not None and issubclass(kind, Sequence):
        if is_dataclass(inner[0]):
            return read_serializer(inner[0])(many=True, **options)  # type: ignore[arg-type]
        return serializers.ListField(child=_of_type(inner[0], of), **options)
    if hint is Any:
        options["allow_null"] = True
    choices = _choices(hint if of is None else of)
    if choices is not None:
        return serializers.ChoiceField(choices, **options)
    return PLAIN[hint if of is None else of](**options)


def _choices(of: Any) -> Any:
    """None: it is no choice."""
    if isinstance(of, type):
        if issubclass(of, Choices):
            return of.choices
        return [one.value for one in of] if issubclass(of, Enum) else None
    return of if isinstance(of, (list, tuple)) else None


class TokenScheme(OpenApiAuthenticationExtension):
    target_class = "consumers.rest.access.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "`Bearer …`, created under API tokens in the account menu",
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
JSON, CSV, YAML = "application/json", "text/csv", "application/yaml"
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
    text: str | None = None,
) -> Any:
    """Describes a GET: its answer (`paged`: pages of it, with what each has beside), its parameters, its problems.

    What is paged is answered as CSV too, so that its `get` must answer with answers.list_response.
    `text`: what it answers, where `get` has no docstring.
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
        description=text,
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
    """The parameters that every answer has (requests.py)."""
    names = {"type": "array", "minItems": 1, "items": {"type": "string", "enum": list(answer().fields)}}
    description = "Only these, with the reasons of those that are null; separated by commas"
    formats = ["json", "csv"] if is_list else ["json"]
    return [
        OpenApiParameter("fields", names, description=description, style="form", explode=False),
        OpenApiParameter("format", str, enum=formats, description="Else as the header `Accept` says"),
    ]


# The OpenAPI document: what is done to it once it is made, and its page.
# What is done to the schema once it is made: members that `fields=` may leave out, and examples of answers.
#
# An example is kept under examples/, named by its component, or by the operation where the answer is text.
FOLDER = Path(__file__).parent / "examples"

# What an example's path names.
PLACES = {
    "cluster": "prod",
    "group": "billing",
    "reset": "0b0f6d0e-8a4e-4c1b-9a56-4c7f3f2f7a10",
    "resend": "6f1c1b7e-3c55-4b0e-9f62-0c9f5a6f2d11",
    "message": "7F0000010BEC18B4AAC2372E3FA00002",
    "topic": "Orders",
    "client": "10.0.0.7@3312",
    "incident": "2b7a51a4-5b0c-4f0e-8e38-7d4b2a9c6d10",
    "preview": "2b7a51a4-5b0c-4f0e-8e38-7d4b2a9c6d12",
    "rule": 1001,
    "note": 1001,
    "silence": 1001,
    "channel": 1001,
    "filter": 1001,
}

ENDINGS = {CSV: "csv", "application/x-ndjson": "ndjson", YAML: "yaml"}

PROBLEMS = {
    400: "Some parameters are not valid.",
    401: "Authentication credentials were not provided.",
    403: "It needs a permission that your role does not have.",
    404: "There is no group 'billing' in cluster 'prod'.",
    406: "Could not satisfy the request Accept header.",
    409: "As things stand it cannot be done: the sentence says why.",
    413: "The request's body is longer than this site takes: ask for less at once.",
    415: 'Unsupported media type "text/plain" in request.',
    429: "More than 1,200 requests in a minute: try again in 42 s.",
    503: "What it needs does not answer: try again.",
}


def with_optional_members(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """A hook of drf-spectacular, after the schema is made."""
    schemas = result["components"]["schemas"]
    for path in result["paths"].values():
        operation = path.get("get", {})
        for parameter in operation.get("parameters", ()):
            if parameter["name"] == "fields":
                answer = operation["responses"]["200"]["content"][JSON]["schema"]
                _chosen_from(schemas, _named(answer), set(parameter["schema"]["items"]["enum"])).pop("required", None)
    return result


def _chosen_from(schemas: dict[str, Any], name: str, members: set[str]) -> dict[str, Any]:
    """Returns the schema that the names belong to: that of the answer itself, else that of a page's rows, whatever else
    the page has."""
    whole: dict[str, Any] = schemas[name]
    lists = [one["items"] for one in whole["properties"].values() if one.get("type") == "array"]
    found = [whole, *(schemas[_named(items)] for items in lists if "$ref" in items)]
    return next(one for one in found if set(one.get("properties", ())) == members)


def _named(schema: dict[str, Any]) -> str:
    return str(schema["$ref"]).rpartition("/")[2]


def with_examples(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """A hook of drf-spectacular, after the schema is made."""
    examples: dict[str, Any] = {}
    for path in result["paths"].values():
        for operation in path.values():
            for parameter in operation.get("parameters", ()):
                if parameter["in"] == "path" and parameter["name"] in PLACES:
                    parameter["example"] = PLACES[parameter["name"]]
            for content in operation.get("requestBody", {}).get("content", {}).values():
                _exemplify(content, examples)
            for code, response in operation["responses"].items():
                for kind, content in response.get("content", {}).items():
                    _of_answer(operation["operationId"], int(code), kind, content, examples)
    result["components"]["examples"] = dict(sorted(examples.items()))
    return result


def problem_example(code: int) -> dict[str, Any]:
    return {"type": "about:blank", "title": HTTPStatus(code).phrase, "status": code, "detail": PROBLEMS[code]}


def _of_answer(operation: str, code: int, kind: str, content: dict[str, Any], examples: dict[str, Any]) -> None:
    if kind == PROBLEM:
        name = f"Problem{code}"
        examples[name] = {"value": problem_example(code)}
        content["examples"] = {"problem": {"$ref": f"#/components/examples/{name}"}}
    elif kind == JSON:
        _exemplify(content, examples)
    elif (text := _read(f"{operation}.{ENDINGS[kind]}")) is not None:
        content["example"] = text


def _exemplify(content: dict[str, Any], examples: dict[str, Any]) -> None:
    name = content["schema"].get("$ref", "").rpartition("/")[2]
    text = _read(f"{name}.json")
    if text is not None:
        examples[name] = {"value": json.loads(text)}
        content["examples"] = {"example": {"$ref": f"#/components/examples/{name}"}}


@cache
def example_files() -> dict[str, Path]:
    """By name: the folders are for people."""
    return {file.name: file for file in FOLDER.rglob("*.*")}


@cache
def _read(name: str) -> str | None:
    file = example_files().get(name)
    return None if file is None else file.read_bytes().decode()


# The schema and its page. Swagger UI styles itself inline, so that its page has a policy of its own.
schema = SpectacularAPIView.as_view(permission_classes=[IsAuthenticated])

page = csp_update({"style-src": [SELF, UNSAFE_INLINE], "img-src": [SELF, "data:"]})(
    SpectacularSwaggerSplitView.as_view(
        url_name="schema",
        permission_classes=[IsAuthenticated],
        # What DRF answers to OPTIONS has no template, and would be an error of the server.
        http_method_names=["get", "head"],
    )
)
