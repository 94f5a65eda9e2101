"""/healthz: the process answers, whatever else does not."""

from django.test import Client


def test_it_is_live_without_a_database(client: Client):
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"live": True})


def test_it_is_only_read(client: Client):
    assert client.post("/healthz").status_code == 405


def test_it_is_not_kept_by_caches(client: Client):
    assert "no-store" in client.get("/healthz")["Cache-Control"]
