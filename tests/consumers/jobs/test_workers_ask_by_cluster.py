"""Workers ask for the role on the cluster that a task is about: who has it for another cluster gets nothing."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, User

from consumers.clients.dumps import dump_threads
from consumers.clusters.connection import check_connection
from consumers.dead_letters.inspection import may_see
from consumers.dead_letters.resend.run import why_not_sent
from consumers.dead_letters.tasks import inspect_message
from consumers.jobs import asking
from consumers.messages.tasks import look_up_message
from consumers.models import Cluster, ClusterRole
from consumers.words.reasons import stored_words
from tests.dead_letter_rows import a_resend
from tests.world import a_cluster, a_group

pytestmark = pytest.mark.django_db


@pytest.fixture
def ann() -> User:
    """Admin of staging."""
    a_cluster(read_at=None)
    user = User.objects.create(username="ann")
    role = Group.objects.get(name="admin")
    ClusterRole.objects.create(user=user, cluster=a_cluster("staging", read_at=None), role=role)
    return user


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []

    def put(key: str, answer: dict[str, Any], kept_seconds: int) -> bool:
        found.append(answer)
        return False

    monkeypatch.setattr(asking, "put_answer", put)
    return found


PLACE = {"group": "billing", "broker": "broker-a", "queue_id": 0, "offset": 1, "topic": None}
TASKS = {
    "bodies": lambda user, cluster: inspect_message(
        f"consumerscope:look:{user}:content:t", {"cluster": cluster, **PLACE}, True
    ),
    "look-ups": lambda user, cluster: look_up_message(
        f"consumerscope:look:{user}:content:t", {"cluster": cluster, "group": "billing", "text": "a"}
    ),
    "dumps": lambda user, cluster: dump_threads(
        f"consumerscope:threads:{user}:t", {"cluster": cluster, "client_id": "10.0.0.7@1"}
    ),
    "tests of connections": lambda user, cluster: check_connection(f"consumerscope:connection:{user}:t", cluster),
}
REFUSED = "no longer has for the cluster prod"


@pytest.mark.parametrize("kind", TASKS)
def test_another_cluster_is_refused(ann: User, answers: list[dict[str, Any]], kind: str) -> None:
    TASKS[kind](ann.pk, "prod")
    assert REFUSED in str(stored_words(answers[0]["reason"]))


@pytest.mark.parametrize("kind", [kind for kind in TASKS if kind != "tests of connections"])
def test_the_own_cluster_is_gone_into(ann: User, answers: list[dict[str, Any]], kind: str) -> None:
    """As far as there is something to ask."""
    TASKS[kind](ann.pk, "staging")
    assert "no longer" not in str(stored_words(answers[0]["reason"]))


def test_exports_ask_for_the_cluster(ann: User) -> None:
    assert [may_see(ann.pk, name) for name in ("staging", "prod")] == [True, False]


@pytest.mark.parametrize(("name", "expected"), [("staging", True), ("prod", False)])
def test_a_resend_is_sent_on_the_own_cluster_alone(ann: User, name: str, expected: bool) -> None:
    group = a_group(Cluster.objects.get(name=name))
    resend = a_resend(group, started_by=ann, started_by_name="ann")
    why = why_not_sent(resend.pk)
    assert (why is None) is expected
    assert expected or "for the cluster prod" in str(stored_words(why))
