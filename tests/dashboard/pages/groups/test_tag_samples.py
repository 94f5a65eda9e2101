"""A group's page says how many of the next messages match its tags."""

import pytest
from django.urls import reverse
from django.utils import timezone

from consumers.models import TagSample
from tests.world import a_cluster, a_group

pytestmark = pytest.mark.django_db


def test_the_page_says_it_in_a_sentence(client, django_user_model):
    client.force_login(django_user_model.objects.create_user("alice", is_superuser=True))
    subscriptions = [{"topic": "Orders", "expression": "TagA", "expression_type": "TAG"}]
    group = a_group(a_cluster(), subscriptions=subscriptions)
    TagSample.objects.create(
        group=group, topic="Orders", expression="TagA", looked_at=64, matching=1, asked_at=timezone.now()
    )
    page = client.get(reverse("group", args=["prod", "billing"])).content.decode()
    assert "1 of the next 64 messages of Orders match TagA" in page
