"""What the environment says of the sign-on: a mistake stops the program with one sentence."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

import dashboard.settings.sign_on as read
from consumers.models import ROLES_OF_CLUSTERS

GOOD = {
    "CONSUMERSCOPE_OIDC_ISSUER": "https://sso.example.org/realms/ops",
    "CONSUMERSCOPE_OIDC_CLIENT_ID": "consumerscope",
    "CONSUMERSCOPE_OIDC_CLIENT_SECRET": "secret",
    "CONSUMERSCOPE_OIDC_ROLES": "sre=operator, a=b=viewer",
}
SIGN_ON = "dashboard.pages.site.sign_on.SignOnBackend"


def settings_of(monkeypatch: pytest.MonkeyPatch, **environment: str) -> Any:
    """The settings, read once more."""
    for name in (*GOOD, "CONSUMERSCOPE_OIDC_PASSWORDS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    found = importlib.util.spec_from_file_location("dashboard.settings.sign_on_once_more", Path(read.__file__))
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_without_an_issuer_nothing_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not hasattr(settings_of(monkeypatch), "AUTHENTICATION_BACKENDS")


def test_roles_are_read_by_group(monkeypatch: pytest.MonkeyPatch) -> None:
    found = settings_of(monkeypatch, **GOOD).CONSUMERSCOPE_OIDC_ROLES
    assert found == {"sre": {("operator", "")}, "a=b": {("viewer", "")}}


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("dev=operator@staging", {"dev": {("operator", "staging")}}),
        ("dev=operator@a,dev=admin@b,dev=viewer", {"dev": {("operator", "a"), ("admin", "b"), ("viewer", "")}}),
        ("a@b=operator@c", {"a@b": {("operator", "c")}}),
        ("dev=operator@a=b", {"dev": {("operator", "a=b")}}),
        ("dev=operator@a@b", {"dev": {("operator", "a@b")}}),
    ],
)
def test_a_role_may_be_for_one_cluster(monkeypatch: pytest.MonkeyPatch, given: str, found: Any) -> None:
    settings = settings_of(monkeypatch, **GOOD | {"CONSUMERSCOPE_OIDC_ROLES": given})
    assert found == settings.CONSUMERSCOPE_OIDC_ROLES


def test_roles_of_clusters_are_those_of_the_admin_pages() -> None:
    assert read.ROLES_OF_CLUSTERS == ROLES_OF_CLUSTERS


@pytest.mark.parametrize(("given", "backends"), [("1", 2), ("0", 1), ("", 2)])
def test_passwords_stay_unless_they_are_turned_off(monkeypatch: pytest.MonkeyPatch, given: str, backends: int) -> None:
    found = settings_of(monkeypatch, **GOOD, CONSUMERSCOPE_OIDC_PASSWORDS=given).AUTHENTICATION_BACKENDS
    assert (len(found), found[-1]) == (backends, SIGN_ON)


@pytest.mark.parametrize("issuer", ["http://localhost:8080", "http://127.0.0.1:9000/a"])
def test_a_provider_on_this_machine_needs_no_https(monkeypatch: pytest.MonkeyPatch, issuer: str) -> None:
    assert settings_of(monkeypatch, **GOOD | {"CONSUMERSCOPE_OIDC_ISSUER": issuer}).AUTHENTICATION_BACKENDS


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"CONSUMERSCOPE_OIDC_ROLES": "sre"}, "CONSUMERSCOPE_OIDC_ROLES must be as sre=operator"),
        ({"CONSUMERSCOPE_OIDC_ROLES": "sre=root"}, "roles are viewer, operator, admin"),
        ({"CONSUMERSCOPE_OIDC_ROLES": "sre=viewer@prod"}, "of a cluster operator, admin"),
        ({"CONSUMERSCOPE_OIDC_ROLES": "sre=operator@"}, "must be as sre=operator"),
        ({"CONSUMERSCOPE_OIDC_ROLES": ""}, "CONSUMERSCOPE_OIDC_ISSUER needs CONSUMERSCOPE_OIDC_ROLES."),
        ({"CONSUMERSCOPE_OIDC_CLIENT_SECRET": ""}, "CONSUMERSCOPE_OIDC_ISSUER needs CONSUMERSCOPE_OIDC_CLIENT_SECRET."),
        ({"CONSUMERSCOPE_OIDC_ISSUER": "http://sso.example.org"}, "CONSUMERSCOPE_OIDC_ISSUER must begin with https://"),
        ({"CONSUMERSCOPE_OIDC_ISSUER": "sso.example.org"}, "CONSUMERSCOPE_OIDC_ISSUER must begin with https://"),
    ],
)
def test_a_mistake_is_said(monkeypatch: pytest.MonkeyPatch, wrong: dict[str, str], sentence: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=sentence):
        settings_of(monkeypatch, **GOOD | wrong)
