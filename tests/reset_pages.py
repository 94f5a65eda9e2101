"""Readers of the pages of resets, and resets in the states that these show."""

from typing import Any

from django.contrib.auth.models import Group, User
from django.test import Client

from consumers.models import ConsumerGroup, Reset, ResetOutcome, ResetStep
from tests.reset_rows import a_reset, a_reset_queue
from tests.walk.page_text import said
from tests.world import ago

ENDED = {"started_at": ago(50), "finished_at": ago(10), "working_at": ago(11), "applied_by_name": "eve"}
BACK = {"step": ResetStep.READ_BACK, "before": 60, "before_at": ago(40), "written_at": ago(39)}
READ = {"outcome": ResetOutcome.CONFIRMED, "after": 41, "after_at": ago(12), "evidence": "It moved on from there."}


def logged_in(role: str) -> Client:
    user = User.objects.create_user(role)
    user.groups.add(Group.objects.get(name=role))
    client = Client()
    client.force_login(user)
    return client


def text(answer: Any) -> str:
    return " ".join(said(answer.text))


def at(reset: Reset, act: str = "") -> str:
    return f"/resets/{reset.pk}/{act}"


def a_plan(group: ConsumerGroup, **fields: Any) -> Reset:
    reset = a_reset(group, **fields)
    a_reset_queue(reset, 1)
    return reset
