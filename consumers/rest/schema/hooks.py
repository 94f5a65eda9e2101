"""The OpenAPI document: what is done to it once it is made, and its page."""

import json
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

from csp.constants import SELF, UNSAFE_INLINE
from csp.decorators import csp_update
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.permissions import IsAuthenticated

from consumers.rest.schema.described import JSON, PROBLEM

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
}

ENDINGS = {"text/csv": "csv", "application/x-ndjson": "ndjson"}

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
    """The schema that the names are of: of the answer itself, else of a page's rows, whatever stands beside them."""
    whole: dict[str, Any] = schemas[name]
    lists = [one["items"] for one in whole["properties"].values() if one.get("type") == "array"]
    found = [whole, *(schemas[_named(items)] for items in lists if "$ref" in items)]
    return next(one for one in found if set(one.get("properties", ())) == members)


def _named(schema: dict[str, Any]) -> str:
    return str(schema["$ref"]).rpartition("/")[2]


def with_examples(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """A hook of drf-spectacular, after the schema is made."""
    kept: dict[str, Any] = {}
    for path in result["paths"].values():
        for operation in path.values():
            for parameter in operation.get("parameters", ()):
                if parameter["in"] == "path" and parameter["name"] in PLACES:
                    parameter["example"] = PLACES[parameter["name"]]
            for content in operation.get("requestBody", {}).get("content", {}).values():
                _exemplify(content, kept)
            for code, response in operation["responses"].items():
                for kind, content in response.get("content", {}).items():
                    _of_answer(operation["operationId"], int(code), kind, content, kept)
    result["components"]["examples"] = dict(sorted(kept.items()))
    return result


def problem_example(code: int) -> dict[str, Any]:
    return {"type": "about:blank", "title": HTTPStatus(code).phrase, "status": code, "detail": PROBLEMS[code]}


def _of_answer(operation: str, code: int, kind: str, content: dict[str, Any], kept: dict[str, Any]) -> None:
    if kind == PROBLEM:
        name = f"Problem{code}"
        kept[name] = {"value": problem_example(code)}
        content["examples"] = {"problem": {"$ref": f"#/components/examples/{name}"}}
    elif kind == JSON:
        _exemplify(content, kept)
    elif (text := _read(f"{operation}.{ENDINGS[kind]}")) is not None:
        content["example"] = text


def _exemplify(content: dict[str, Any], kept: dict[str, Any]) -> None:
    name = content["schema"].get("$ref", "").rpartition("/")[2]
    text = _read(f"{name}.json")
    if text is not None:
        kept[name] = {"value": json.loads(text)}
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
