"""What an answer of the site asks the database several times, and is told once: all its parts show the same."""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

Params = ParamSpec("Params")
Found = TypeVar("Found")

_FOUND: ContextVar[dict[Hashable, Any] | None] = ContextVar("found for the answer", default=None)


@contextmanager
def one_answer() -> Iterator[None]:
    """Within it, each function that is `asked_once` runs once for the same arguments. Nothing in it may write."""
    token = _FOUND.set({})
    try:
        yield
    finally:
        _FOUND.reset(token)


def is_within_an_answer() -> bool:
    return _FOUND.get() is not None


def asked_once(ask: Callable[Params, Found]) -> Callable[Params, Found]:
    """For a function with hashable arguments whose result nobody changes."""

    takes = signature(ask)

    @wraps(ask)
    def asked(*args: Params.args, **kwargs: Params.kwargs) -> Found:
        found = _FOUND.get()
        if found is None:
            return ask(*args, **kwargs)
        given = takes.bind(*args, **kwargs)
        given.apply_defaults()
        key = (ask, *given.arguments.items())
        if key not in found:
            found[key] = ask(*args, **kwargs)
        known: Found = found[key]
        return known

    return asked
