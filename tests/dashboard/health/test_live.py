"""/healthz: the process answers, whatever else does not."""

import pytest
from django.test import Client

# What Compose, Kubernetes and a proxy ask for.
HOSTS = ["127.0.0.1:8000", "10.1.2.3:8000", "consumerscope-web", "scope.example.org"]


def test_it_is_live_without_a_database(client: Client):
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"live": True})


def test_it_is_only_read(client: Client):
    assert client.post("/healthz").status_code == 405


def test_it_is_not_kept_by_caches(client: Client):
    assert "no-store" in client.get("/healthz")["Cache-Control"]


@pytest.mark.parametrize("host", HOSTS)
def test_a_probe_is_answered_whatever_names_the_site_has(client: Client, settings, host):
    settings.ALLOWED_HOSTS = ["scope.example.org"]
    assert client.get("/healthz", headers={"host": host}).status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize("host", HOSTS)
def test_so_is_the_question_whether_it_is_ready(client: Client, settings, tmp_path, host):
    settings.ALLOWED_HOSTS, settings.REDIS_URL = ["scope.example.org"], f"unix://{tmp_path / 'nobody.sock'}"
    assert client.get("/readyz", headers={"host": host}).status_code == 503


@pytest.mark.parametrize("path", ["/login/", "/healthz/", "/metrics", "/api/v1/groups/"])
def test_no_other_address_is_answered_under_a_name_that_is_not_the_sites(client: Client, settings, path):
    settings.ALLOWED_HOSTS = ["scope.example.org"]
    assert client.get(path, headers={"host": "127.0.0.1:8000"}).status_code == 400
