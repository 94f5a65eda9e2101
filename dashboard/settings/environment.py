"""Reads the environment. Each call declares a variable, its default and what it does: docs/configuration.md is written
from that. A value that makes no sense stops the program with one sentence."""

import ipaddress
import os
from dataclasses import dataclass, field

from django.core.exceptions import ImproperlyConfigured


@dataclass(frozen=True)
class Variable:
    """`default`: as people read it."""

    name: str
    default: str
    what: str


@dataclass(frozen=True)
class Section:
    title: str
    intro: str
    variables: dict[str, Variable] = field(default_factory=dict)


# By title, in the order of the settings.
SECTIONS: dict[str, Section] = {}
_open: Section | None = None


def section(title: str, intro: str = "") -> None:
    """Begins a section of the reference: the variables declared from here on belong to it."""
    global _open
    _open = SECTIONS.setdefault(title, Section(title, intro))


def declare(name: str, default: str, what: str) -> None:
    assert _open is not None, "A section comes first."
    _open.variables[name] = Variable(name, default, what)


def text(name: str, default: str, what: str, *, shown: str | None = None) -> str:
    """`shown`: the default as people read it, where it is not the same on every machine."""
    declare(name, shown or (f"`{default}`" if default else "none"), what)
    return os.environ.get(name) or default


def number(name: str, default: float, what: str, *, least: float = 0.0, shown: str | None = None) -> float:
    declare(name, shown or f"{default:.10g}", what)
    given = os.environ.get(name, "")
    if not given:
        return default
    try:
        value = float(given)
    except ValueError:
        raise ImproperlyConfigured(f"{name} must be a number, not {given!r}.") from None
    if not value >= least or value == float("inf"):
        raise ImproperlyConfigured(f"{name} must be at least {least:g}, not {given!r}.")
    return value


def flag(name: str, default: bool, what: str) -> bool:
    declare(name, str(int(default)), what)
    given = os.environ.get(name, "").lower()
    if given in ("", "0", "1", "true", "false", "yes", "no"):
        return default if given == "" else given in ("1", "true", "yes")
    raise ImproperlyConfigured(f"{name} must be 1 or 0, not {given!r}.")


def words(name: str, default: str, what: str) -> list[str]:
    """Separated by commas."""
    return [word.strip() for word in text(name, default, what).split(",") if word.strip()]


def folders(name: str, default: str, what: str, *, shown: str) -> list[str]:
    """Separated as in PATH."""
    paths = [os.path.expanduser(path) for path in text(name, default, what, shown=shown).split(os.pathsep) if path]
    if odd := [path for path in paths if not path.startswith(("/", "~"))]:
        raise ImproperlyConfigured(f"{name} must be folders from '/' on, separated by '{os.pathsep}', not {odd[0]!r}.")
    # Where nobody's home is known, nothing is kept there.
    return [path for path in paths if path.startswith("/")]


def networks(name: str, what: str) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    try:
        return [ipaddress.ip_network(word) for word in words(name, "", what)]
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} must be networks as 10.0.0.0/8, separated by commas: {error}.") from None
