"""A preview is taken by one worker, and ends with a result or with a sentence."""

from typing import Any

import pytest

from consumers.alerts.preview import work
from consumers.alerts.preview.work import work_on
from consumers.lake.store import Lake
from consumers.models import RulePreview
from tests.alert_rows import a_preview
from tests.preview_rows import windows
from tests.world import NOW, a_cluster, a_group, ago

pytestmark = pytest.mark.django_db


def now() -> Any:
    return NOW


def no_lake() -> Lake:
    raise RuntimeError("No lake.\n at org.example.Stack")


def test_it_keeps_the_answer(settings: Any, tmp_path: Any) -> None:
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    a_group(a_cluster())
    row = a_preview(since=ago(3600))
    work_on(row.pk, now)
    row.refresh_from_db()
    assert (row.status, row.error, row.finished_at) == ("done", None, NOW)
    assert row.seconds is not None
    assert row.seconds > 0
    assert (row.result["fired"], row.result["unknown_share"]) == (0, 1)
    # Reasons are stored as codes: who reads them chooses the language.
    assert row.result["unknown"]["known_from"] == '{"code": "preview_no_data"}'


def test_what_fails_is_kept_as_a_sentence_and_raised() -> None:
    row = a_preview()
    with pytest.raises(RuntimeError, match="No lake"):
        work_on(row.pk, now, no_lake)
    row.refresh_from_db()
    assert (row.status, row.result) == ("failed", None)
    assert row.error.startswith("The run failed for an unexpected reason (RuntimeError: No lake.)")


@pytest.mark.parametrize("status", ["running", "done", "failed"])
def test_only_what_waits_is_taken(status: str) -> None:
    row = a_preview(status=status)
    work_on(row.pk, now, no_lake)
    assert RulePreview.objects.get(pk=row.pk).status == status


def test_it_is_given_up_once_its_time_is_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    windows(a_group(a_cluster()), [1])
    monkeypatch.setattr(work, "LIMIT_SECONDS", 0.0)
    row = a_preview(since=ago(3600))
    work_on(row.pk, now, lambda: Lake.at(str(tmp_path)))
    row.refresh_from_db()
    assert (row.status, row.error) == ("failed", work.TOO_LONG)


def test_one_that_is_cancelled_while_it_runs_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    windows(a_group(a_cluster()), [1])
    monkeypatch.setattr(work, "LOOK_SECONDS", 0.0)
    row = a_preview(since=ago(3600))

    def lake() -> Lake:
        RulePreview.objects.filter(pk=row.pk).update(status="cancelled")
        return Lake.at(str(tmp_path))

    answered: list[Any] = []
    monkeypatch.setattr(work, "result_of", lambda *_: answered.append(1))
    work_on(row.pk, now, lake)
    row.refresh_from_db()
    assert (row.status, row.error, answered) == ("cancelled", None, [])
