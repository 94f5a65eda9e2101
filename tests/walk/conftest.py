from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import time_machine

from consumers.lake.store import Lake
from consumers.models import ConsumerGroup
from tests.walk.losses import WORLDS
from tests.walk.world import a_known_world
from tests.world import NOW


@pytest.fixture(params=WORLDS)
def world(request: pytest.FixtureRequest, db: None, settings: Any, tmp_path: Path) -> Iterator[str]:
    """The name of what is not known."""
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    # Else every client lists all static files first, which takes longer than a page.
    settings.WHITENOISE_AUTOREFRESH = True
    with time_machine.travel(NOW, tick=False):
        group: ConsumerGroup = a_known_world(Lake.at(str(tmp_path)))
        WORLDS[request.param](group)
        yield request.param
