"""Who somebody is that signs on, what the person is called, and what the person may do."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db.models.signals import pre_save
from django.test import Client

from consumers.jobs.permissions import may
from consumers.models import AuditEvent, Cluster, SignOnAccount
from tests.oidc_provider import OidcProvider, sign_on
from tests.world import NOW, a_cluster

pytestmark = pytest.mark.django_db


def roles(name: str = "ann") -> list[str]:
    return sorted(User.objects.get(username=name).groups.values_list("name", flat=True))


def names() -> list[str]:
    return sorted(User.objects.values_list("username", flat=True))


@pytest.mark.parametrize(
    ("claims", "name"),
    [
        ({}, "ann"),
        ({"preferred_username": None}, "ann@example.org"),
        ({"preferred_username": "", "email": ""}, "f3a1"),
        ({"preferred_username": None, "email": None}, "f3a1"),
        ({"preferred_username": "Ann O'Neil / ops"}, "Ann-O-Neil-ops"),
        ({"preferred_username": "李雷"}, "李雷"),
        ({"preferred_username": "ａｎｎ\0"}, "ann"),
        ({"preferred_username": "x" * 300}, "x" * 100),
        ({"preferred_username": ["ann"], "email": 7}, "f3a1"),
        ({"preferred_username": "//", "email": "//", "sub": "//"}, "nameless"),
    ],
)
def test_people_are_called_what_the_provider_calls_them(
    client: Client, provider: OidcProvider, claims: dict[str, Any], name: str
) -> None:
    sign_on(client, provider, groups=["sre"], **claims)
    assert names() == [name]


def test_pages_show_that_name(client: Client, provider: OidcProvider) -> None:
    sign_on(client, provider, groups=["all"])
    assert "<summary>ann</summary>" in client.get("/").text


def test_a_local_user_of_the_same_name_or_mail_address_is_another_one(client: Client, provider: OidcProvider) -> None:
    local = User.objects.create_superuser("Ann", "ann@example.org", "secret")
    sign_on(client, provider, groups=["all"])
    assert names() == ["Ann", "ann@127.0.0.1"]
    assert client.session["_auth_user_id"] != str(local.pk)


def test_two_people_of_one_name_are_told_apart(provider: OidcProvider) -> None:
    for subject in ("one", "two", "three"):
        sign_on(Client(), provider, groups=["all"], sub=subject)
    assert names() == ["ann", "ann@127.0.0.1", "ann@127.0.0.1-2"]


def test_somebody_who_is_renamed_stays_the_same_user(client: Client, provider: OidcProvider) -> None:
    sign_on(client, provider, groups=["all"])
    user = User.objects.get()
    sign_on(Client(), provider, groups=["all"], preferred_username="ann.smith", email="ann.smith@example.org")
    assert (names(), User.objects.get().pk, User.objects.get().email) == (
        ["ann.smith"],
        user.pk,
        "ann.smith@example.org",
    )


def test_a_name_stays_while_the_provider_says_the_same(provider: OidcProvider) -> None:
    """Also where the shorter one has become free: events of the audit have it for somebody else."""
    local = User.objects.create(username="ann")
    sign_on(Client(), provider, groups=["all"])
    local.delete()
    sign_on(Client(), provider, groups=["all"])
    assert names() == ["ann@127.0.0.1"]


def test_a_subject_of_another_issuer_is_another_person(client: Client, provider: OidcProvider) -> None:
    other = User.objects.create(username="bob")
    SignOnAccount.objects.create(user=other, issuer="https://another", subject="f3a1", name="bob", confirmed_at=NOW)
    sign_on(client, provider, groups=["all"])
    assert names() == ["ann", "bob"]


def test_a_sign_in_that_another_one_overtakes_is_tried_again(client: Client, provider: OidcProvider) -> None:
    def overtake(instance: SignOnAccount, **_: Any) -> None:
        pre_save.disconnect(overtake, SignOnAccount)
        other = User.objects.create(username="other")
        SignOnAccount.objects.create(
            user=other, issuer=instance.issuer, subject=instance.subject, name="other", confirmed_at=NOW
        )

    pre_save.connect(overtake, SignOnAccount)
    assert sign_on(client, provider, groups=["all"]).status_code == 302
    assert SignOnAccount.objects.count() == 1


def test_a_role_is_that_of_the_group(client: Client, provider: OidcProvider) -> None:
    sign_on(client, provider, groups=["sre", "others"])
    assert roles() == ["operator"]


@pytest.fixture
def of_clusters(settings: Any) -> None:
    a_cluster(read_at=None)
    a_cluster("staging", read_at=None)
    settings.CONSUMERSCOPE_OIDC_ROLES |= {
        "dev": {("operator", "staging")},
        "lead": {("admin", "staging"), ("operator", "prod")},
        "old": {("operator", "gone")},
    }


def cluster_roles() -> list[str]:
    return [str(one) for one in User.objects.get(username="ann").cluster_roles.all()]


def test_a_role_for_a_cluster_lets_somebody_act_there(
    client: Client, provider: OidcProvider, of_clusters: None
) -> None:
    assert sign_on(client, provider, groups=["dev"]).status_code == 302
    user = User.objects.get()
    assert (roles(), user.is_staff) == ([], False)
    assert [may(user, "consumers.reset_offsets", name) for name in ("staging", "prod")] == [True, False]


def test_roles_for_clusters_are_replaced_too(provider: OidcProvider, of_clusters: None) -> None:
    sign_on(Client(), provider, groups=["dev", "all"])
    given = {"cluster": Cluster.objects.get(name="prod"), "role": Group.objects.get(name="admin")}
    User.objects.get().cluster_roles.create(**given)
    sign_on(Client(), provider, groups=["lead"])
    assert (roles(), cluster_roles()) == ([], ["operator of prod", "admin of staging"])
    assert not User.objects.get().is_staff
    sign_on(Client(), provider, groups=["all"])
    assert (roles(), cluster_roles()) == (["viewer"], [])


def test_a_role_for_a_cluster_that_is_not_registered_is_none(
    client: Client, provider: OidcProvider, of_clusters: None
) -> None:
    answer = sign_on(client, provider, groups=["old"])
    assert (answer.status_code, "none of your groups has a role here" in answer.text) == (403, True)


def test_somebody_who_is_disabled_loses_roles_for_clusters(provider: OidcProvider, of_clusters: None) -> None:
    for groups in (["lead"], []):
        sign_on(Client(), provider, groups=groups)
    assert (User.objects.get().is_active, cluster_roles()) == (False, [])


def test_the_audit_names_the_clusters_of_roles(provider: OidcProvider, of_clusters: None) -> None:
    for groups in (["dev"], ["dev"], ["lead", "all"]):
        sign_on(Client(), provider, groups=groups)
    assert list(AuditEvent.objects.order_by("pk").values_list("sentence", flat=True)) == [
        "Signed in for the first time, as operator@staging.",
        "Roles by the provider's groups: admin@staging, operator@prod, viewer, not operator@staging.",
    ]


def test_one_group_may_be_a_text(client: Client, provider: OidcProvider) -> None:
    sign_on(client, provider, groups="sre")
    assert roles() == ["operator"]


def test_the_claim_with_the_groups_can_be_another(client: Client, provider: OidcProvider, settings: Any) -> None:
    settings.CONSUMERSCOPE_OIDC_GROUPS_CLAIM = "roles"
    sign_on(client, provider, roles=["sre"], groups=["root"])
    assert roles() == ["operator"]


def test_a_group_that_was_left_takes_its_role_away(provider: OidcProvider) -> None:
    sign_on(Client(), provider, groups=["sre", "all"])
    sign_on(Client(), provider, groups=["all"])
    assert roles() == ["viewer"]


def test_admins_of_the_provider_may_open_the_admin_pages_until_they_are_none(provider: OidcProvider) -> None:
    sign_on(Client(), provider, groups=["root"])
    assert User.objects.get().is_staff
    sign_on(Client(), provider, groups=["all"])
    assert not User.objects.get().is_staff


def test_what_was_given_here_ends_at_the_next_sign_in(provider: OidcProvider) -> None:
    sign_on(Client(), provider, groups=["all"])
    User.objects.update(is_superuser=True, is_staff=True)
    User.objects.get().groups.add(Group.objects.get(name="admin"))
    sign_on(Client(), provider, groups=["all"])
    user = User.objects.get()
    assert (user.is_superuser, user.is_staff, roles()) == (False, False, ["viewer"])


def test_somebody_who_has_no_role_any_more_is_disabled(client: Client, provider: OidcProvider) -> None:
    sign_on(Client(), provider, groups=["root"])
    answer = sign_on(client, provider, groups=["others"])
    user = User.objects.get()
    assert (answer.status_code, roles(), user.is_active, user.is_staff) == (403, [], False, False)


def test_a_token_without_groups_takes_everything_away_too(client: Client, provider: OidcProvider) -> None:
    """Some providers leave the claim out for who is in no group."""
    sign_on(Client(), provider, groups=["root"])
    sign_on(client, provider)
    assert not User.objects.get().is_active


def test_somebody_who_has_a_role_again_is_enabled(provider: OidcProvider) -> None:
    for groups in (["sre"], [], ["sre"]):
        sign_on(Client(), provider, groups=groups)
    assert (User.objects.get().is_active, roles()) == (True, ["operator"])


def test_somebody_whom_an_administrator_disabled_stays_so(client: Client, provider: OidcProvider) -> None:
    sign_on(Client(), provider, groups=["sre"])
    User.objects.update(is_active=False)
    for groups in (["sre"], [], ["sre"]):
        answer = sign_on(client, provider, groups=groups)
    assert (answer.status_code, "your account is disabled here" in answer.text) == (403, True)
    assert not User.objects.get().is_active


def test_the_audit_says_who_came_and_how_roles_changed(provider: OidcProvider) -> None:
    for groups in (["sre"], ["sre"], ["all"], []):
        sign_on(Client(), provider, groups=groups)
    assert list(AuditEvent.objects.order_by("pk").values_list("by_name", "sentence")) == [
        ("ann", "Signed in for the first time, as operator."),
        ("ann", "Roles by the provider's groups: viewer, not operator."),
        ("ann", "Disabled: no group of the provider has a role."),
    ]
