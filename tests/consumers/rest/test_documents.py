"""The page of the schema."""

import pytest

pytestmark = pytest.mark.django_db


def test_it_is_read_and_nothing_else(api):
    assert api.get("/api/docs/").status_code == 200
    assert api.options("/api/docs/").status_code == 405


def test_the_page_of_the_documentation_leads_back_and_has_the_theme_of_the_site(api):
    api.cookies["theme"] = "dark"
    page = api.get("/api/docs/").text
    assert '<html lang="en" data-theme="dark">' in page
    assert '<a href="/">' in page
