"""Who works on the admin pages."""

from django.contrib.auth.models import Group, User
from django.test import Client


def a_staff_client(role: str) -> Client:
    user = User.objects.create_user(role, is_staff=True)
    user.groups.add(Group.objects.get(name=role))
    client = Client()
    client.force_login(user)
    return client
