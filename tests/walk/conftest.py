from collections.abc import Iterator
from typing import Any

import pytest
import time_machine

from consumers.lake.store import Lake
from consumers.models import ConsumerGroup
from tests.plugins.made_once import MadeOnce
from tests.walk.losses import OTHER_STATEMENTS, WORLDS
from tests.walk.world import a_known_world
from tests.world import NOW


@pytest.fixture(scope="module")
def known_world(made_once: MadeOnce, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, int]:
    """Its lake and the key of its group. Nothing of it is lost yet: each test loses what it is about."""
    lake = str(tmp_path_factory.mktemp("lake"))
    with time_machine.travel(NOW, tick=False):
        return lake, made_once(lambda: a_known_world(Lake.at(lake))).pk


def _worlds() -> Iterator[Any]:
    same = pytest.mark.either_database("the same statements are asked in the worlds of OTHER_STATEMENTS")
    for name in WORLDS:
        yield pytest.param(name, marks=[] if name in OTHER_STATEMENTS else [same])


@pytest.fixture(params=_worlds())
def world(request: pytest.FixtureRequest, known_world: tuple[str, int], db: None, settings: Any) -> Iterator[str]:
    """The name of what is not known."""
    settings.CONSUMERSCOPE_LAKE, group = known_world
    with time_machine.travel(NOW, tick=False):
        WORLDS[request.param](ConsumerGroup.objects.get(pk=group))
        yield request.param
