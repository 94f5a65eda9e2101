"""A role for one cluster: what it allows, where, and for how long."""

import pytest
from django.contrib.auth.models import AnonymousUser, Group, Permission, User

from consumers.jobs.permissions import may, may_somewhere, user_may, why_not, why_nowhere
from consumers.models import Cluster, ClusterRole
from tests.world import a_cluster

pytestmark = pytest.mark.django_db
RESET, CHECK = "consumers.reset_offsets", "consumers.manage_clusters"


@pytest.fixture
def prod() -> Cluster:
    a_cluster("staging", read_at=None)
    return a_cluster(read_at=None)


def somebody(name: str, cluster: Cluster | None = None, role: str = "operator") -> User:
    user = User.objects.create(username=name)
    group = Group.objects.get(name=role)
    if cluster is None:
        user.groups.add(group)
    else:
        ClusterRole.objects.create(user=user, cluster=cluster, role=group)
    return user


def test_it_holds_on_its_cluster_and_on_no_other(prod: Cluster) -> None:
    ann = somebody("ann", prod)
    assert [may(ann, RESET, name) for name in ("prod", "staging", "Prod", "gone", "")] == [True, *[False] * 4]


def test_a_role_of_somebody_else_counts_for_nothing(prod: Cluster) -> None:
    somebody("ann", prod)
    assert not may(User.objects.create(username="bob"), RESET, "prod")


def test_a_role_for_all_clusters_holds_on_each(prod: Cluster) -> None:
    ann = somebody("ann")
    assert all(may(ann, RESET, name) for name in ("prod", "staging", "gone", ""))


def test_a_superuser_may_on_each(prod: Cluster) -> None:
    assert may(User.objects.create_superuser("root"), RESET, "prod")


@pytest.mark.parametrize(("role", "expected"), [("operator", False), ("admin", True)])
def test_connections_are_tested_by_admins_of_the_cluster(prod: Cluster, role: str, expected: bool) -> None:
    assert may(somebody("ann", prod, role), CHECK, "prod") is expected


def test_it_is_no_permission_outside_of_clusters(prod: Cluster) -> None:
    ann = somebody("ann", prod, "admin")
    assert not any(ann.has_perm(name) for name in (RESET, CHECK, "auth.change_user"))


def test_what_the_role_loses_everybody_who_has_it_loses(prod: Cluster) -> None:
    ann = somebody("ann", prod)
    Group.objects.get(name="operator").permissions.remove(Permission.objects.get(codename="reset_offsets"))
    assert not may(ann, RESET, "prod")


def test_a_role_that_is_taken_away_is_gone_at_once(prod: Cluster) -> None:
    ann = somebody("ann", prod)
    assert user_may(ann.pk, RESET, "prod")
    ann.cluster_roles.all().delete()
    assert not user_may(ann.pk, RESET, "prod")


def test_a_cluster_that_is_registered_again_under_the_same_name_gives_no_role_back(prod: Cluster) -> None:
    ann = somebody("ann", prod)
    prod.delete()
    a_cluster(read_at=None)
    assert not user_may(ann.pk, RESET, "prod")


def test_who_is_disabled_may_nothing(prod: Cluster) -> None:
    ann = somebody("ann", prod)
    User.objects.update(is_active=False)
    assert not user_may(ann.pk, RESET, "prod")
    assert not user_may(ann.pk + 1, RESET, "prod")


def test_nobody_may_nothing(prod: Cluster) -> None:
    assert not may(AnonymousUser(), RESET, "prod")
    assert not may_somewhere(AnonymousUser(), RESET)


def test_somewhere_is_any_cluster(prod: Cluster) -> None:
    ann, bob = somebody("ann", prod), somebody("bob", role="viewer")
    assert (may_somewhere(ann, RESET), may_somewhere(ann, CHECK), may_somewhere(bob, RESET)) == (True, False, False)


def test_a_refusal_says_which_role_for_which_cluster_is_missing(prod: Cluster) -> None:
    ann = somebody("ann", prod)
    assert why_not(ann, RESET, "prod") is None
    assert why_not(ann, RESET, "staging") == (
        "You need the role operator or admin, for the cluster staging or for all clusters (permission "
        "consumers.reset_offsets)."
    )
    assert why_not(ann, CHECK, "prod") == (
        "You need the role admin, for the cluster prod or for all clusters (permission consumers.manage_clusters)."
    )
    assert why_not(ann, RESET, "") == (
        "You need the role operator or admin for all clusters (permission consumers.reset_offsets)."
    )
    assert why_nowhere(ann, CHECK) == (
        "You need the role admin, for a cluster or for all clusters (permission consumers.manage_clusters)."
    )


def test_permissions_of_a_user_are_asked_for_once(prod: Cluster, django_assert_num_queries) -> None:
    ann = User.objects.get(pk=somebody("ann", prod).pk)
    ann.has_perm(RESET)
    with django_assert_num_queries(1):
        assert [may(ann, RESET, name) for name in ("prod", "staging", "prod")] == [True, False, True]
