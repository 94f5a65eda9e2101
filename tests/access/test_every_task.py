"""Every task goes to the one queue that docs/access.md says, and no argument of a task lets a broker be written to."""

import re
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import Group, User

from consumers.dead_letters.export_stream import ExportFormat, ExportWanted
from consumers.dead_letters.filters import DeadLetterFilters
from consumers.dead_letters.inspection import InspectionKey
from consumers.dead_letters.tasks import export_dead_letters, inspect_message, resend
from consumers.models import ConsumerGroup, Resend, ResendOutcome, ResendStatus, ResetStatus
from consumers.resets.tasks import reset_apply
from consumers.words.reasons import stored_words
from dashboard.celery import app
from dashboard.launch import launcher
from tests.access.rules import PAGE
from tests.dead_letter_rows import a_resend, a_resendable_group
from tests.reset_rows import a_reset, an_operator
from tests.world import NOW, ago

ROOT = Path(__file__).resolve().parents[2]
QUEUES = {"poll", "general", "alerts", "spark"}


def rows() -> dict[str, str]:
    """The queue of each task of the table; a task that stands twice fails."""
    found: dict[str, str] = {}
    for line in PAGE.read_text().split("| task | queue |", 1)[1].split("\n\n", 1)[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        for name in re.findall(r"`(\w+)`", cells[0]):
            assert name not in found, f"{name} stands twice in the table of docs/access.md"
            found[name] = cells[1]
    return found


def tasks() -> list[str]:
    app.loader.import_default_modules()
    app.autodiscover_tasks(["consumers"], force=True)
    return sorted(name for name in app.tasks if not name.startswith("celery."))


def queue_of(task: str) -> str:
    return str(app.amqp.router.route({}, task)["queue"].name)


def test_every_task_has_a_row_and_every_row_a_task() -> None:
    assert tasks() == sorted(f"consumers.{name}" for name in rows()), "docs/access.md has a table of all tasks"


def test_every_task_goes_to_the_queue_of_its_row() -> None:
    assert {name: queue_of(f"consumers.{name}") for name in rows()} == rows()


def test_beat_asks_in_the_same_queues() -> None:
    beat = {one["task"]: one["options"].get("queue") for one in settings.CELERY_BEAT_SCHEDULE.values()}
    assert {name: queue or queue_of(name) for name, queue in beat.items()} == {name: queue_of(name) for name in beat}


def test_nobody_who_asks_names_another_queue() -> None:
    sources = [path for folder in ("consumers", "dashboard") for path in (ROOT / folder).rglob("*.py")]
    assert [path.name for path in sources if re.search(r"(apply_async|publish)\([^)]*queue=", path.read_text())] == []


def test_every_queue_has_one_worker_of_the_launcher_and_of_compose() -> None:
    environ: dict[str, str] = {}
    workers = (launcher.poll_worker, launcher.general_worker, launcher.alerts_worker, launcher.spark_worker)
    launched = [one(environ).command[one(environ).command.index("-Q") + 1] for one in workers]
    composed = re.findall(r'"-Q", "([^"]+)"', (ROOT / "docker-compose.yml").read_text())
    assert (set(rows().values()), sorted(launched), sorted(composed)) == (QUEUES, sorted(QUEUES), sorted(QUEUES))


def test_a_message_brings_no_code() -> None:
    assert (app.conf.accept_content, app.conf.task_serializer) == (["json"], "json")


@pytest.fixture
def no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever would call one fails the test."""

    def calls(*_: object) -> None:
        raise AssertionError("a broker was about to be called")

    monkeypatch.setattr("consumers.dead_letters.resend.run.Batch.send", calls)
    monkeypatch.setattr("consumers.resets.applying.run.work", calls)


@pytest.fixture
def group(db: None) -> ConsumerGroup:
    return a_resendable_group()


@pytest.mark.usefixtures("no_broker")
@pytest.mark.parametrize("status", [status for status in ResendStatus if status != ResendStatus.RUNNING])
def test_a_forged_task_sends_nothing_of_what_nobody_started(group: ConsumerGroup, status: ResendStatus) -> None:
    row = a_resend(group, status=status, started_by=an_operator(), started_by_name="ann")
    resend(str(row.pk))
    row.refresh_from_db()
    assert (row.status, row.working_at) == (status, None)


@pytest.mark.usefixtures("no_broker")
@pytest.mark.parametrize("task", [resend, reset_apply])
def test_a_forged_task_of_no_row_does_nothing(db: None, task: Callable[[str], None]) -> None:
    with pytest.raises(Exception, match="does not exist"):
        task(str(uuid.uuid4()))


@pytest.mark.parametrize("status", [status for status in ResetStatus if status != ResetStatus.APPLYING])
def test_a_forged_task_applies_no_reset_that_nobody_let_be_applied(group: ConsumerGroup, status: ResetStatus) -> None:
    row = a_reset(group, status=status)
    reset_apply(str(row.pk))
    row.refresh_from_db()
    assert (row.status, row.working_at) == (status, None)


def loses_the_role() -> None:
    User.objects.get(username="ann").groups.remove(Group.objects.get(name="operator"))


def is_switched_off() -> None:
    User.objects.filter(username="ann").update(is_active=False)


def is_removed() -> None:
    User.objects.get(username="ann").delete()


@pytest.mark.usefixtures("no_broker")
@pytest.mark.parametrize(
    ("happens", "words"),
    [
        (loses_the_role, "ann, who started the resend, no longer has the permission consumers.resend_dead_letters"),
        (is_switched_off, "no longer has the permission"),
        (is_removed, "The account of ann, who started the resend, no longer exists"),
    ],
)
def test_without_the_permission_of_who_started_it_nothing_is_sent(
    group: ConsumerGroup, happens: Callable[[], None], words: str, time_machine: Any
) -> None:
    time_machine.move_to(NOW)
    row = a_resend(
        group, status=ResendStatus.RUNNING, started_by=an_operator(), started_by_name="ann", started_at=ago(1)
    )
    row.items.create(broker="broker-a", queue_id=0, offset=0, stored_id="0" * 32, outcome=ResendOutcome.PLANNED)
    happens()
    resend(str(row.pk))
    row = Resend.objects.get(pk=row.pk)
    assert (row.status, row.items.get().outcome) == (ResendStatus.FAILED, ResendOutcome.CANCELLED)
    assert words in str(stored_words(row.error))


class Chunks:
    """In the place of what goes to Redis."""

    failed: str | None = None

    def __init__(self, *_: object, **__: object) -> None: ...

    def __enter__(self) -> "Chunks":
        return self

    def __exit__(self, *_: object) -> None: ...

    def fail(self, sentence: str) -> None:
        Chunks.failed = sentence


def test_an_export_gives_no_bodies_to_who_may_not_see_them(
    group: ConsumerGroup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("consumers.dead_letters.tasks.ChunkWriter", Chunks)
    viewer = User.objects.create_user("eve")
    wanted = ExportWanted("prod", "billing", ExportFormat.CSV, True, DeadLetterFilters())
    export_dead_letters("token", wanted.as_words(), viewer.pk)
    assert "view_message_body" in str(Chunks.failed)


@pytest.mark.parametrize("of_key", [True, False])
def test_a_look_gives_no_body_to_who_may_not_see_it(
    group: ConsumerGroup, of_key: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: list[dict[str, Any]] = []
    monkeypatch.setattr("consumers.jobs.asking.put_answer", lambda _key, answer, _seconds: answers.append(answer))
    key = InspectionKey(User.objects.create_user("eve").pk, of_key, "token")
    place = {"cluster": "prod", "group": "billing", "broker": "broker-a", "queue_id": 0, "offset": 0}
    inspect_message(str(key), place, with_content=True)
    assert answers[0]["look"] is None
    assert "view_message_body" in answers[0]["reason"]
