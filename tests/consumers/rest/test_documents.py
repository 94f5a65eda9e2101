"""The page of the schema."""

import pytest

pytestmark = pytest.mark.django_db


def test_it_is_read_and_nothing_else(api):
    assert api.get("/api/docs/").status_code == 200
    assert api.options("/api/docs/").status_code == 405
