import pytest
from django.test import Client
from django.utils.translation import get_language

pytestmark = pytest.mark.django_db
CHINESE = {"HTTP_ACCEPT_LANGUAGE": "zh-CN,zh;q=0.9,en;q=0.8"}


def test_english_where_nothing_is_asked_for(client: Client) -> None:
    answer = client.get("/login/")
    assert 'lang="en"' in answer.text
    assert answer["Content-Language"] == "en"


@pytest.mark.parametrize("preferred", ["zh-CN", "zh", "zh-Hans", "zh-TW;q=0.9, en;q=0.8", "zh-CN,zh;q=0.9,en;q=0.8"])
def test_the_browser_s_language_is_the_default(client: Client, preferred: str) -> None:
    answer = client.get("/login/", HTTP_ACCEPT_LANGUAGE=preferred)
    assert '<html lang="zh-hans"' in answer.text
    assert "登录" in answer.text


def test_a_language_without_a_catalogue_is_english(client: Client) -> None:
    assert '<html lang="en"' in client.get("/login/", HTTP_ACCEPT_LANGUAGE="fr-FR").text


def test_a_choice_is_remembered_and_outranks_the_browser(client: Client) -> None:
    answer = client.post("/language/", {"language": "en", "next": "/login/?next=/"}, **CHINESE)
    assert answer.headers["Location"] == "/login/?next=/"
    assert client.cookies["language"]["max-age"] == 365 * 24 * 3600
    assert '<html lang="en"' in client.get("/login/", **CHINESE).text


@pytest.mark.parametrize("address", ["https://elsewhere.example/", "//elsewhere.example/", "javascript:alert(1)", ""])
def test_it_never_leads_to_another_site(client: Client, address: str) -> None:
    assert client.post("/language/", {"language": "en", "next": address}).headers["Location"] == "/"


def test_it_refuses_a_language_that_it_does_not_have(client: Client) -> None:
    assert client.post("/language/", {"language": "fr"}).status_code == 400
    assert "language" not in client.cookies


def test_it_is_not_changed_by_a_link(client: Client) -> None:
    assert client.get("/language/?language=zh-hans").status_code == 405


def test_it_needs_the_token_of_the_form() -> None:
    assert Client(enforce_csrf_checks=True).post("/language/", {"language": "en"}).status_code == 403


def test_a_cache_keeps_the_languages_apart(client: Client) -> None:
    assert {"Accept-Language", "Cookie"} <= set(client.get("/nowhere/")["Vary"].split(", "))


@pytest.mark.parametrize("address", ["/healthz", "/readyz", "/metrics"])
def test_what_machines_read_is_english(client: Client, address: str) -> None:
    assert client.get(address, **CHINESE)["Content-Language"] == "en"


def test_rest_words_follow_the_asker_and_its_codes_do_not(client: Client) -> None:
    client.cookies["language"] = "zh-hans"
    answer = client.get("/api/v1/groups/")
    assert answer["Content-Language"] == "zh-hans"
    english = Client().get("/api/v1/groups/")
    assert (answer.status_code, set(answer.json())) == (english.status_code, set(english.json()))


def test_the_next_asker_does_not_inherit_a_language(client: Client) -> None:
    assert "zh-hans" in client.get("/login/", **CHINESE).text
    assert get_language() == "en"


def test_a_request_that_is_refused_at_the_door_is_refused_in_its_language(client: Client) -> None:
    assert client.get("/%00/", **CHINESE)["Content-Language"] == "zh-hans"


def test_static_files_are_the_same_in_every_language(client: Client) -> None:
    answer = client.get("/static/css/frame.css", **CHINESE)
    assert "Content-Language" not in answer
    assert "Cookie" not in answer.get("Vary", "")
    assert b"".join(answer)
    answer.close()
