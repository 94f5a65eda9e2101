"""Says of answers that `fields=` may leave members out: none of their members is required there."""

from typing import Any

from .schema import JSON


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
