"""Lost offsets over REST: what queues and groups say of them, and who takes note of them."""

from collections.abc import Iterator

import pytest
import time_machine
from django.contrib.auth.models import Group, User
from rest_framework.test import APIClient

from consumers.models import AuditEvent, Cluster, LossAcknowledgement
from tests.lost_rows import a_losing_group
from tests.world import NOW, a_broker, a_cluster

pytestmark = pytest.mark.django_db
GROUP = "/api/v1/groups/prod/billing/"
ACKNOWLEDGE = f"{GROUP}lost-offsets/acknowledge/"


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with time_machine.travel(NOW, tick=False):
        cluster = a_cluster()
        a_broker(cluster)
        yield cluster


def asking(role: str) -> APIClient:
    user = User.objects.create_user(role)
    user.groups.add(Group.objects.get(name=role))
    client = APIClient()
    client.force_authenticate(user)
    return client


def test_queues_and_groups_say_what_is_lost(cluster: Cluster) -> None:
    a_losing_group(cluster, queues=1, consume_from_where="CONSUME_FROM_LAST_OFFSET")
    viewer = asking("viewer")
    [queue] = viewer.get(f"{GROUP}queues/?state=LOSS").json()["results"]
    names = ("lost_offset", "lost_at", "would_start_at", "would_skip_messages", "would_redeliver_messages")
    assert [queue[name] for name in names] == [7, "2026-03-14T02:59:30Z", 12, 5, 0]
    assert (queue["rule"], queue["lag_messages"]) == ("offset lost", None)
    [group] = viewer.get("/api/v1/groups/").json()["results"]
    assert (group["state"], group["lost_queues"], group["lag_messages"]) == ("LOSS", 1, None)


def test_who_operates_acknowledges_a_loss_and_it_is_kept_who_did(cluster: Cluster) -> None:
    a_losing_group(cluster)
    operator = asking("operator")
    answer = operator.post(ACKNOWLEDGE)
    assert answer.status_code == 202
    document = answer.json()
    assert (document["group"], document["by"], document["applied_at"]) == ("billing", "operator", None)
    assert [(queue["queue_id"], queue["lost_offset"]) for queue in document["queues"]] == [(0, 7), (1, 7)]
    assert AuditEvent.objects.get().sentence == "Acknowledged the lost offsets of 2 queues."
    again = operator.post(ACKNOWLEDGE)
    assert (again.status_code, again.json()["detail"]) == (
        409,
        "The loss is already acknowledged: the next poll applies it.",
    )


def test_a_viewer_is_told_which_permission_it_needs(cluster: Cluster) -> None:
    a_losing_group(cluster)
    answer = asking("viewer").post(ACKNOWLEDGE)
    assert answer.status_code == 403
    assert "consumers.reset_offsets" in answer.json()["detail"]
    assert not LossAcknowledgement.objects.exists()


def test_a_group_that_is_not_there(cluster: Cluster) -> None:
    assert asking("operator").post("/api/v1/groups/prod/none/lost-offsets/acknowledge/").status_code == 404
