"""Rows that are made once for all tests of a module: each test undoes what it changes, as it does without them.

A module shares them whole: a test of it that uses the database and not the rows would see them in some orders only, and
one that empties the database would take them from the others. Both are refused when tests are collected.
"""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import pytest
from django.db import transaction
from pytest_django.plugin import DjangoDbBlocker

from tests.plugins.uses_database import commits, uses_database

Made = TypeVar("Made")
MadeOnce = Callable[[Callable[[], Any]], Any]


@pytest.fixture(scope="module")
def made_once(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[MadeOnce]:
    """For fixtures of a module: `made_once(make)` is what `make` returns; its rows go when the module is done."""
    with django_db_blocker.unblock():
        kept = transaction.atomic()
        kept.__enter__()

    def made(make: Callable[[], Made]) -> Made:
        with django_db_blocker.unblock():
            return make()

    yield made
    with django_db_blocker.unblock():
        transaction.set_rollback(True)
        kept.__exit__(None, None, None)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    sharing = {item.path for item in items if "made_once" in getattr(item, "fixturenames", ())}
    for item in items:
        if item.path in sharing and (complaint := _complaint(item)):
            raise pytest.UsageError(f"{item.nodeid} {complaint}: move it to a file of its own.")


def _complaint(item: pytest.Item) -> str | None:
    if commits(item):
        return "empties the database that its module shares"
    if uses_database(item) and "made_once" not in getattr(item, "fixturenames", ()):
        return "uses the database and not the rows that its module shares"
    return None
