"""Says of answers that `fields=` may leave members out: none of their members is required there."""

from typing import Any

from .schema import JSON


def with_optional_members(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """A hook of drf-spectacular, after the schema is made."""
    schemas = result["components"]["schemas"]
    for path in result["paths"].values():
        operation = path.get("get", {})
        if any(parameter["name"] == "fields" for parameter in operation.get("parameters", ())):
            answer = operation["responses"]["200"]["content"][JSON]["schema"]
            _chosen_from(schemas, _named(answer)).pop("required", None)
    return result


def _chosen_from(schemas: dict[str, Any], name: str) -> dict[str, Any]:
    """The schema that the names are of: of a page's rows, else of the answer itself."""
    whole: dict[str, Any] = schemas[name]
    if "next" not in whole["properties"]:
        return whole
    # Rows come before what a page has beside them.
    rows = next(one for one in whole["properties"].values() if one.get("type") == "array")
    row: dict[str, Any] = schemas[_named(rows["items"])]
    return row


def _named(schema: dict[str, Any]) -> str:
    return str(schema["$ref"]).rpartition("/")[2]
