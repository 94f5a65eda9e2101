"""Admin pages write times with their seconds and their zone, in every language."""

import pytest
from django.test import Client

from tests.world import a_cluster, a_reading, ago

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_a_time_in_a_list_has_its_seconds_and_its_zone(admin_client: Client, language: str) -> None:
    a_reading(a_cluster(read_at=None), ago(5))
    page = admin_client.get("/admin/consumers/reading/", headers={"accept-language": language}).text
    assert "2026-03-14 02:59:55 UTC" in page
