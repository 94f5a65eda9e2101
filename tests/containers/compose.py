"""docker-compose.yml as Docker reads it: anchors merged, variables filled from `.env` or with their defaults."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
# ${NAME:-default}, where the default may hold others; ${NAME:?message}, which Docker refuses to start without.
_VARIABLE = re.compile(r"\$\{([A-Z_]+):([-?])((?:[^{}]|\$\{[^{}]*\})*)\}")


PASSWORDS = {"POSTGRES_PASSWORD": "of-postgres", "REDIS_PASSWORD": "of-redis"}


class NotSet(Exception):
    """Docker does not start without this variable."""


def services(env: Mapping[str, str] | None = None) -> dict[str, dict[str, Any]]:
    """`env`: what `.env` says; the passwords alone where it is not given."""
    said = PASSWORDS if env is None else env
    return _filled(yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"], said)


def _filled(part: Any, env: Mapping[str, str]) -> Any:
    match part:
        case dict():
            return {name: _filled(value, env) for name, value in part.items()}
        case list():
            return [_filled(value, env) for value in part]
        case str():
            return _VARIABLE.sub(lambda match: _value(match, env), part)
        case _:
            return part


def _value(match: re.Match[str], env: Mapping[str, str]) -> str:
    name, kind, rest = match.groups()
    if env.get(name):
        return env[name]
    if kind == "?":
        raise NotSet(f"{name}: {rest}")
    return str(_filled(rest, env))


def own_services(env: Mapping[str, str] | None = None) -> dict[str, dict[str, Any]]:
    """Those that run this project's image."""
    return {name: service for name, service in services(env).items() if service["image"] == "consumerscope"}


def environment_of(service: Mapping[str, Any], env: Mapping[str, str]) -> dict[str, str]:
    """What a container of it finds: `environment` outranks the file that `env_file` names."""
    files = [file["path"] for file in service.get("env_file", [])]
    assert files in ([], [".env"])
    return {**(env if files else {}), **service.get("environment", {})}
