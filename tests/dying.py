"""A worker that dies in the middle of what it writes into the database."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection

from tests.fake_clock import Killed


@contextmanager
def dies_at(statement: str) -> Iterator[None]:
    """In the block, right before the first statement that contains `statement`."""

    def kill(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if statement in sql:
            raise Killed
        return execute(sql, params, many, context)

    with pytest.raises(Killed), connection.execute_wrapper(kill):
        yield
