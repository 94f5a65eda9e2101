"""Roles for single clusters on the page of a user: who may give them, and what the audit keeps of it."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from consumers.jobs.permissions import user_may
from consumers.models import AuditEvent, Cluster, ClusterRole
from tests.consumers.admin.staff import a_staff_client
from tests.world import a_cluster

pytestmark = pytest.mark.django_db
RESET = "consumers.reset_offsets"


@pytest.fixture
def bob() -> User:
    a_cluster(read_at=None)
    return User.objects.create_user("bob")


def sent(client: Client, user: User, rows: list[dict[str, Any]]) -> int:
    """The page of the user with these rows of the inline; those that are stored have an `id`."""
    path = f"/admin/auth/user/{user.pk}/change/"
    form = {"username": user.username, "is_active": "on", "date_joined_0": "2026-03-14", "date_joined_1": "03:00:00"}
    stored = sum("id" in row for row in rows)
    form |= {"cluster_roles-TOTAL_FORMS": str(len(rows)), "cluster_roles-INITIAL_FORMS": str(stored)}
    for number, row in enumerate(rows):
        form |= {f"cluster_roles-{number}-{name}": str(value) for name, value in row.items()}
        form[f"cluster_roles-{number}-user"] = str(user.pk)
    return client.post(path, form).status_code


def operator_of_prod() -> dict[str, Any]:
    return {"cluster": Cluster.objects.get().pk, "role": Group.objects.get(name="operator").pk}


def test_an_admin_gives_a_role_for_a_cluster(bob: User) -> None:
    assert sent(a_staff_client("admin"), bob, [operator_of_prod()]) == 302
    assert user_may(bob.pk, RESET, "prod")


def test_an_admin_takes_it_away(bob: User) -> None:
    client = a_staff_client("admin")
    sent(client, bob, [operator_of_prod()])
    row = ClusterRole.objects.get()
    assert sent(client, bob, [operator_of_prod() | {"id": row.pk, "DELETE": "on"}]) == 302
    assert not user_may(bob.pk, RESET, "prod")


def test_the_audit_says_which_role_was_given_and_taken(bob: User) -> None:
    client = a_staff_client("admin")
    sent(client, bob, [operator_of_prod()])
    sent(client, bob, [operator_of_prod() | {"id": ClusterRole.objects.get().pk, "DELETE": "on"}])
    given, taken = AuditEvent.objects.filter(subject="bob").order_by("pk")
    assert (given.by_name, taken.by_name) == ("admin", "admin")
    assert "Added role for a cluster “operator of prod”." in given.sentence
    assert "Deleted role for a cluster “operator of prod”." in taken.sentence


def test_only_roles_that_act_are_offered(bob: User) -> None:
    viewer = Group.objects.get(name="viewer").pk
    assert sent(a_staff_client("admin"), bob, [operator_of_prod() | {"role": viewer}]) == 200
    assert not ClusterRole.objects.exists()


@pytest.mark.parametrize("role", ["viewer", "operator"])
def test_nobody_else_gives_one(bob: User, role: str) -> None:
    assert sent(a_staff_client(role), bob, [operator_of_prod()]) == 403
    assert not ClusterRole.objects.exists()
