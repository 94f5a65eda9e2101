"""docker-compose.yml as Docker reads it: anchors merged, variables filled with their defaults."""

import re
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
_VARIABLE = re.compile(r"\$\{([A-Z_]+):-([^}]*)\}")


def services() -> dict[str, dict[str, Any]]:
    return _filled(yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"])


def _filled(part: Any) -> Any:
    match part:
        case dict():
            return {name: _filled(value) for name, value in part.items()}
        case list():
            return [_filled(value) for value in part]
        case str():
            return _VARIABLE.sub(lambda match: match.group(2), part)
        case _:
            return part


def own_services() -> dict[str, dict[str, Any]]:
    """Those that run this project's image."""
    return {name: service for name, service in services().items() if service["image"] == "consumerscope"}
