"""The site's OpenAPI document, operation by operation."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator

JSON = "application/json"


@dataclass(frozen=True)
class Operation:
    method: str
    path: str
    said: dict[str, Any]

    @property
    def name(self) -> str:
        return str(self.said["operationId"])

    @property
    def answers(self) -> dict[str, dict[str, Any]]:
        """Of what goes well, by media type."""
        good = (answer for code, answer in self.said["responses"].items() if code.startswith("2"))
        return {kind: content for answer in good for kind, content in answer.get("content", {}).items()}

    @property
    def body(self) -> dict[str, Any] | None:
        content: dict[str, Any] = self.said.get("requestBody", {}).get("content", {})
        return content.get(JSON)

    def address(self, places: dict[str, Any]) -> str:
        return self.path.format(**places)


@cache
def schema() -> dict[str, Any]:
    document: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return document


@cache
def operations() -> list[Operation]:
    return list(_operations())


def _operations() -> Iterator[Operation]:
    for path, methods in schema()["paths"].items():
        yield from (Operation(method, path, said) for method, said in methods.items())


def component(content: dict[str, Any]) -> str | None:
    """The name of the schema that a body or an answer has."""
    return content["schema"].get("$ref", "").rpartition("/")[2] or None


def example(content: dict[str, Any]) -> Any:
    """None: there is none."""
    if "example" in content:
        return content["example"]
    for one in content.get("examples", {}).values():
        return schema()["components"]["examples"][one["$ref"].rpartition("/")[2]]["value"]
    return None
