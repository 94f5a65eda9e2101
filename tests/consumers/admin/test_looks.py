"""Who looked at which body stands in a list that nobody can change."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from consumers.dead_letters.looks.audit import note_seen
from tests.world import NOW

pytestmark = pytest.mark.django_db


def test_a_superuser_sees_who_looked_at_what_and_changes_nothing() -> None:
    user = User.objects.create(username="ada", is_staff=True, is_superuser=True)
    note_seen(user, "prod/billing: broker-a/0 at 7", "Asked to see the body of the dead letter.", NOW)
    client = Client()
    client.force_login(user)
    page = client.get("/admin/admin/logentry/").text
    assert "prod/billing: broker-a/0 at 7" in page
    assert "Asked to see the body of the dead letter." in page
    assert client.get("/admin/admin/logentry/add/").status_code == 403
