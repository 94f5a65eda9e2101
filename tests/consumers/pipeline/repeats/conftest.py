import pytest

from consumers.lake.store import Lake
from tests.world import a_cluster, a_group


@pytest.fixture
def lake(tmp_path):
    return Lake.at(str(tmp_path))


@pytest.fixture
def billing():
    return a_group(a_cluster(read_at=None), "billing")
