"""What was allowed when a reset was let go, asked again at the moment of writing."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection

from consumers.models import Cluster, ClusterRole, Reset, ResetOutcome, ResetStatus, ResetStep
from consumers.resets.acts import cancel
from consumers.resets.applying.run import work
from consumers.resets.target_values import Asker
from consumers.words.reasons import stored_words
from tests.consumers.resets.applying.conftest import Site, steps
from tests.fake_clock import FakeClock
from tests.reset_rows import an_operator
from tests.world import NOW, ago


def loses_the_role() -> None:
    User.objects.get(username="ann").groups.remove(Group.objects.get(name="operator"))


def has_it_for(cluster: str) -> None:
    """Instead of the role for all clusters."""
    loses_the_role()
    there, _ = Cluster.objects.get_or_create(name=cluster, defaults={"namesrv": "10.0.0.9:1", "created_at": NOW})
    role = Group.objects.get(name="operator")
    ClusterRole.objects.create(user=User.objects.get(username="ann"), cluster=there, role=role)


def is_switched_off() -> None:
    User.objects.filter(username="ann").update(is_active=False)


def is_removed() -> None:
    User.objects.get(username="ann").delete()


@pytest.mark.parametrize(
    ("happens", "words"),
    [
        (loses_the_role, "ann, who applied it, no longer has the permission consumers.reset_offsets"),
        (partial(has_it_for, "staging"), "no longer has the permission consumers.reset_offsets for the cluster prod"),
        (is_switched_off, "no longer has the permission"),
        (is_removed, "the account of ann, who applied it, no longer exists"),
    ],
)
def test_without_the_permission_of_who_let_it_go_nothing_is_written(
    site: Site, clock: FakeClock, happens: Callable[[], None], words: str
) -> None:
    reset = site.applying(300)
    happens()
    site.work(reset, clock)
    assert (site.writes(), reset.status, steps(reset)) == (0, ResetStatus.FAILED, [ResetStep.NOT_DONE] * 4)
    assert words in str(stored_words(reset.error))


def test_the_role_for_the_cluster_is_enough(site: Site, clock: FakeClock) -> None:
    reset = site.applying(300)
    has_it_for("prod")
    site.work(reset, clock)
    assert reset.status == ResetStatus.APPLIED


def after_writes(site: Site, count: int, happens: Callable[[], None], clock: FakeClock) -> Callable[[], Any]:
    """A clock that lets it happen once so much was written."""
    acts = [happens]

    def read() -> Any:
        if acts and site.writes() >= count:
            acts.pop()()
        return clock()

    return read


@pytest.mark.parametrize("happens", [loses_the_role, None])
def test_the_rest_is_not_written_once_it_is_not_allowed_any_more(
    site: Site, clock: FakeClock, settings: Any, happens: Callable[[], None] | None
) -> None:
    def marks_read_only() -> None:
        settings.CONSUMERSCOPE_READ_ONLY_CLUSTERS = ["prod"]

    reset = site.applying(300)
    work(reset.pk, site.ports, after_writes(site, 2, happens or marks_read_only, clock), clock.pause)
    reset.refresh_from_db()
    assert site.offsets() == [300, 300, 500, 501]
    assert steps(reset) == ["CONFIRMED"] * 2 + [ResetStep.NOT_DONE] * 2
    assert (reset.status, str(stored_words(reset.error)).startswith("Stopped: ")) == (ResetStatus.PARTIAL, True)


@pytest.mark.parametrize(
    ("fields", "is_late"),
    [
        ({"started_at": ago(301)}, True),
        ({"started_at": ago(299)}, False),
        ({"started_at": ago(3000), "working_at": ago(301)}, True),
        ({"started_at": ago(3000), "working_at": ago(299)}, False),
    ],
)
def test_what_no_worker_was_on_for_long_is_not_written(
    site: Site, clock: FakeClock, fields: dict[str, Any], is_late: bool
) -> None:
    reset = site.applying(300, **fields)
    site.work(reset, clock)
    assert (site.writes() == 0) == is_late
    assert ("no worker was on it for more than 5 minutes" in str(stored_words(reset.error))) == is_late


def test_what_was_in_doubt_for_long_is_read_back_and_not_written_again(site: Site, clock: FakeClock) -> None:
    reset = site.applying(300, started_at=ago(3000), working_at=ago(400))
    reset.queues_of_it.filter(broker="broker-a", queue_id=0).update(step=ResetStep.WRITING, before=500)
    site.work(reset, clock)
    assert (site.writes(), steps(reset)) == (0, [ResetOutcome.UNCHANGED] + [ResetStep.NOT_DONE] * 3)


def test_one_that_is_cancelled_during_its_last_look_tells_no_broker(site: Site, clock: FakeClock) -> None:
    reset = site.applying(300)
    asker, acts = Asker(an_operator(), None, "page"), [1]

    def read() -> Any:
        # Within a transaction of the worker's own it would be taken back with that.
        if acts and not connection.savepoint_ids and any(broker.asked for broker in site.brokers.values()):
            acts.pop()
            cancel(Reset.objects.get(pk=reset.pk), asker, clock())
        return clock()

    work(reset.pk, site.ports, read, clock.pause)
    reset.refresh_from_db()
    assert (site.writes(), reset.status) == (0, ResetStatus.CANCELLED)
