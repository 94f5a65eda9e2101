"""Reads the environment; a value that makes no sense stops the program with one sentence."""

import ipaddress
import os

from django.core.exceptions import ImproperlyConfigured


def number(name: str, default: float, *, least: float = 0.0) -> float:
    text = os.environ.get(name, "")
    if not text:
        return default
    try:
        value = float(text)
    except ValueError:
        raise ImproperlyConfigured(f"{name} must be a number, not {text!r}.") from None
    if not value >= least or value == float("inf"):
        raise ImproperlyConfigured(f"{name} must be at least {least:g}, not {text!r}.")
    return value


def flag(name: str, default: bool) -> bool:
    text = os.environ.get(name, "").lower()
    if text in ("", "0", "1", "true", "false", "yes", "no"):
        return default if text == "" else text in ("1", "true", "yes")
    raise ImproperlyConfigured(f"{name} must be 1 or 0, not {text!r}.")


def words(name: str, default: str) -> list[str]:
    return [word.strip() for word in (os.environ.get(name) or default).split(",") if word.strip()]


def folders(name: str, default: str) -> list[str]:
    """Separated as in PATH."""
    paths = [os.path.expanduser(path) for path in (os.environ.get(name) or default).split(os.pathsep) if path]
    if odd := [path for path in paths if not path.startswith(("/", "~"))]:
        raise ImproperlyConfigured(f"{name} must be folders from '/' on, separated by '{os.pathsep}', not {odd[0]!r}.")
    # Where nobody's home is known, nothing is kept there.
    return [path for path in paths if path.startswith("/")]


def networks(name: str) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    try:
        return [ipaddress.ip_network(word) for word in words(name, "")]
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} must be networks as 10.0.0.0/8, separated by commas: {error}.") from None
