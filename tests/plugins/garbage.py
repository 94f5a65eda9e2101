"""Ten thousand collected tests are no garbage: Python's collector does not look through them again and again.

Nor does it look after every 700 objects for circles that a test has left: a page makes as many each few milliseconds.
"""

import gc
from collections.abc import Iterator

import pytest

OBJECTS = 20_000


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(OBJECTS, *gc.get_threshold()[1:])
        gc.enable()
