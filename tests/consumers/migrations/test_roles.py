"""The roles that a migration makes."""

import pytest
from django.contrib.auth.models import Group

pytestmark = pytest.mark.django_db


def permissions(role: str) -> set[str]:
    return set(Group.objects.get(name=role).permissions.values_list("codename", flat=True))


def test_a_viewer_only_sees():
    assert all(codename.startswith("view_") for codename in permissions("viewer"))
    assert {"view_cluster", "view_consumergroup", "view_queuestate"} <= permissions("viewer")


@pytest.mark.parametrize("role", ["viewer", "operator"])
def test_only_an_admin_sees_tokens(role):
    assert "view_apitoken" not in permissions(role)
    assert {"view_apitoken", "delete_apitoken"} <= permissions("admin")


def test_only_an_admin_manages_clusters_and_users():
    managing = {"manage_clusters", "add_user", "change_user", "delete_user", "view_user"}
    assert managing <= permissions("admin")
    assert not managing & permissions("operator")


def test_each_role_may_do_what_the_one_before_it_may():
    assert permissions("viewer") <= permissions("operator") <= permissions("admin")


@pytest.mark.parametrize("codename", ["view_message_body", "resend_dead_letters", "reset_offsets"])
def test_who_operates_may_look_into_messages_send_them_again_and_reset_offsets(codename):
    assert codename in permissions("operator")
    assert codename not in permissions("viewer")


def test_only_an_admin_sees_who_looked_at_what():
    assert "view_auditevent" in permissions("admin")
    assert "view_auditevent" not in permissions("operator")
