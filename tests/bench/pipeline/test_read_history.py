"""The rows beside a generated week of history."""

import pytest

from consumers.models import GroupWindow
from tests.bench.pipeline.history_lake import HOURS, Extent
from tests.bench.pipeline.read_history import _write_rows


@pytest.mark.django_db
def test_each_group_has_its_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(HOURS, 60, 1)
    monkeypatch.setitem(HOURS, 600, 2)
    _write_rows(Extent(groups=2, queues=16))
    # Those of the hour that is not over, and of the one before it.
    counted = [GroupWindow.objects.filter(step_seconds=step).count() for step in (60, 600)]
    assert counted == [2 * 30, 2 * (6 + 3)]
    assert GroupWindow.objects.filter(volumes_unknown={}).count() == sum(counted)
