"""Rows of offset resets, each with the least that it needs; readers of their pages, and resets in the states that
these show.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from django.contrib.auth.models import Group, User
from django.test import Client

from consumers.models import (
    ConsumerGroup,
    Reset,
    ResetEvent,
    ResetKind,
    ResetMethod,
    ResetOutcome,
    ResetQueue,
    ResetStatus,
    ResetStep,
)
from consumers.resets.target_values import Asker
from tests.walk.page_text import said
from tests.world import NOW, ago

SEEN = {
    "members": ["10.0.0.7@3312"],
    "orderly": False,
    "message_model": "CLUSTERING",
    "consume_type": "CONSUME_PASSIVELY",
    "brokers": {"broker-a": {"version": "V5_4_0", "server_side": True, "permission": 6}},
}

Answer = TypeVar("Answer")

UNREAD = (
    "min_offset",
    "max_offset",
    "now_offset",
    "wanted",
    "target",
    "target_time",
    "method",
    "replayed_messages",
    "skipped_messages",
)


def an_asker(role: str = "operator", address: str | None = "10.0.0.9", via: str = "page") -> Asker:
    user = User.objects.create_user("ann")
    user.groups.add(Group.objects.get(name=role))
    return Asker(user, address, via)


def at_once(ask: Callable[[], Answer]) -> Answer:
    """For what a worker asks while it shows that it lives."""
    return ask()


def an_operator() -> User:
    """Ann, who may apply resets. She may be there already."""
    user = User.objects.filter(username="ann").first() or User.objects.create_user("ann")
    user.groups.add(Group.objects.get(name="operator"))
    return user


def a_reset(group: ConsumerGroup, **fields: Any) -> Reset:
    """A plan that holds for another ten minutes."""
    said = {
        "cluster_name": group.cluster.name,
        "group_name": group.name,
        "by_name": "ops",
        "reason": "orders were lost",
        "kind": ResetKind.OFFSET,
        "value": 40,
        "status": ResetStatus.PLANNED,
        "created_at": ago(61),
        "planned_at": ago(60),
        "expires_at": ago(-600),
        "seen": SEEN,
    }
    return Reset.objects.create(group=group, **{**said, **fields})


def a_reset_queue(reset: Reset, queue_id: int = 0, **fields: Any) -> ResetQueue:
    """From 60 back to 40, of 10..100."""
    said = {
        "topic": "Orders",
        "broker": "broker-a",
        "min_offset": 10,
        "max_offset": 100,
        "now_offset": 60,
        "wanted": 40,
        "target": 40,
        "target_time": ago(3600),
        "replayed_messages": 20,
        "skipped_messages": 0,
        "restorable": True,
        "method": ResetMethod.SERVER,
    }
    return ResetQueue.objects.create(reset=reset, queue_id=queue_id, **{**said, **fields})


def a_queue_left_out(reset: Reset, queue_id: int, why: str = "broker-b does not answer") -> ResetQueue:
    unread = dict.fromkeys(UNREAD)
    return a_reset_queue(reset, queue_id, broker="broker-b", left_out=why, restorable=False, **unread)


def an_event(reset: Reset, sentence: str = "Planned it.", **fields: Any) -> ResetEvent:
    said = {"at": NOW, "by_name": "ops", "address": "10.1.2.3", "via": "rest"}
    return ResetEvent.objects.create(reset=reset, sentence=sentence, **{**said, **fields})


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
