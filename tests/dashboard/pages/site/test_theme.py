import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


def test_it_follows_the_system_until_a_theme_is_chosen(client: Client) -> None:
    assert 'data-theme="auto"' in client.get("/login/").text


def test_a_choice_is_kept_and_rendered_by_the_server(client: Client) -> None:
    response = client.post("/theme/", {"theme": "dark", "next": "/login/?next=/"})
    assert response.headers["Location"] == "/login/?next=/"
    assert 'data-theme="dark"' in client.get("/login/").text


@pytest.mark.parametrize("address", ["https://elsewhere.example/", "//elsewhere.example/", "javascript:alert(1)", ""])
def test_it_never_leads_to_another_site(client: Client, address: str) -> None:
    assert client.post("/theme/", {"theme": "dark", "next": address}).headers["Location"] == "/"


def test_it_refuses_a_theme_that_it_does_not_know(client: Client) -> None:
    assert client.post("/theme/", {"theme": "pink"}).status_code == 400


def test_it_is_not_changed_by_a_link(client: Client) -> None:
    assert client.get("/theme/?theme=dark").status_code == 405


def test_a_cookie_that_makes_no_sense_is_as_if_there_were_none(client: Client) -> None:
    client.cookies["theme"] = '"><script>'
    assert 'data-theme="auto"' in client.get("/login/").text
