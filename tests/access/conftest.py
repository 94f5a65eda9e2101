"""A world, and everybody who may ask it something. Whatever a request does is undone."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.core.handlers.base import BaseHandler
from django.core.signals import request_finished
from django.db import close_old_connections, transaction
from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.test import Client, RequestFactory

from consumers.jobs.acts import note
from consumers.lake.store import Lake
from consumers.models import (
    ApiToken,
    BrokerStatistic,
    ClockChange,
    Cluster,
    ClusterRole,
    ConsumerGroup,
    DueWindow,
    EvaluationGap,
    GroupHealth,
    GroupThresholds,
    Lease,
    LossAcknowledgement,
    MachineClock,
    MembershipGap,
    SignOnAccount,
    TagSample,
)
from consumers.models.site import token_digest
from tests.access.addresses import Address
from tests.plugins.made_once import MadeOnce
from tests.store_rows import an_offset_file
from tests.walk.world import a_known_world
from tests.world import NOW, a_cluster, ago

ROLES = ("viewer", "operator", "admin")


@dataclass(frozen=True)
class Asker:
    """`session`: the key of one. Nobody has neither that nor a token."""

    name: str
    session: str | None = None
    token: str | None = None

    def request(self, method: str, path: str, body: bytes = b"") -> HttpRequest:
        """As a browser's or a script's, without anything in it; with no CSRF token."""
        factory = RequestFactory(headers={"authorization": f"Token {self.token}"} if self.token else {})
        factory.cookies = SimpleCookie({"sessionid": self.session} if self.session else {})
        return factory.generic(method, path, body, content_type="application/json")


class Site:
    """The site as a server calls it: without what Django's test client keeps of each answer, which takes half the time.

    An error of it is an answer with 500.
    """

    def __init__(self) -> None:
        self._handler = BaseHandler()
        self._handler.load_middleware()

    def answer(self, request: HttpRequest, *, csrf: bool = False) -> HttpResponseBase:
        """`csrf`: with the checks that are left out otherwise."""
        request._dont_enforce_csrf_checks = not csrf  # type: ignore[attr-defined]
        answer = self._handler.get_response(request)
        if isinstance(answer, StreamingHttpResponse):
            b"".join(answer)  # type: ignore[arg-type]
        # The database is to stay connected, as Django's test client has it.
        request_finished.disconnect(close_old_connections)
        answer.close()
        request_finished.connect(close_old_connections)
        return answer


@dataclass(frozen=True)
class World:
    askers: dict[str, Asker]
    rows: dict[str, str]

    def path_of(self, address: Address) -> str:
        """An admin page is opened for a row that is there."""
        if not address.route.startswith("/admin/") or not address.names:
            return address.path()
        _start, _admin, app, model, *_rest = address.route.split("/")
        row = self.rows.get(f"{app}.{model}", "1")
        return address.path(object_id=row, id=row, content_type_id="1")

    @contextmanager
    def undone(self) -> Iterator[None]:
        with transaction.atomic():
            yield
            transaction.set_rollback(True)


@pytest.fixture(scope="module")
def made(made_once: MadeOnce, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, World]:
    """The lake, and what is known of it."""
    lake = str(tmp_path_factory.mktemp("lake"))

    def rows() -> World:
        _rows_of_the_admin_pages(a_known_world(Lake.at(lake)))
        a_cluster("staging", read_at=None)
        askers = {asker.name: asker for asker in _askers()}
        return World(askers, _a_row_of_each())

    with time_machine.travel(NOW, tick=False):
        return lake, made_once(rows)


@pytest.fixture
def world(
    made: tuple[str, World], db: None, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[World]:
    settings.CONSUMERSCOPE_LAKE, world = made
    # A list of sixty models beside each of a thousand pages, which tests/consumers/admin opens with it.
    monkeypatch.setattr(admin.site, "enable_nav_sidebar", False)
    settings.REDIS_URL = f"unix://{tmp_path / 'nobody-listens.sock'}"
    with time_machine.travel(NOW, tick=False):
        yield world


def _askers() -> Iterator[Asker]:
    yield Asker("nobody")
    for role in ROLES:
        user = _user(role, role, is_staff=role == "admin")
        yield Asker(role, session=_session(user))
        yield Asker(f"{role} by token", token=_token(user))
        yield Asker(f"{role}, staff", session=_session(_user(f"staff-{role}", role, is_staff=True)))
    for cluster in ("prod", "staging"):
        name = f"operator-of-{cluster}"
        user = User.objects.create(username=name)
        role = {"cluster": Cluster.objects.get(name=cluster), "role": Group.objects.get(name="operator")}
        ClusterRole.objects.create(user=user, **role)
        yield Asker(name, session=_session(user))
        yield Asker(f"{name} by token", token=_token(user))
    yield Asker("expired token", token=_token(User.objects.get(username="admin"), "expired", expires_at=ago(1)))


def _user(name: str, role: str, **fields: Any) -> User:
    user = User.objects.create(username=name, **fields)
    user.groups.add(Group.objects.get(name=role))
    return user


def _session(user: User) -> str:
    client = Client()
    client.force_login(user)
    return client.cookies["sessionid"].value


def _token(user: User, name: str = "valid", **fields: Any) -> str:
    text = f"{name}-token-of-{user.username}"
    # Noted as used just now, so that using it changes nothing.
    ApiToken.objects.create(
        user=user, name=name, digest=token_digest(text), created_at=ago(60), last_used_at=NOW, **fields
    )
    return text


def _rows_of_the_admin_pages(group: ConsumerGroup) -> None:
    """Of what the walked world lacks."""
    Lease.objects.create(name="poll", holder="here", expires_at=NOW)
    MachineClock.objects.create(
        boot="boot-1", name="here", seen_at=NOW, uptime_seconds=60, steady_seconds=60, doubt="new", doubt_at=ago(60)
    )
    ClockChange.objects.create(at=ago(60), before=ago(120), machine="here", seconds=60, measured=True)
    BrokerStatistic.objects.create(cluster=group.cluster, broker="broker-a", topic="Orders", asked_at=NOW)
    MembershipGap.objects.create(group=group, began_at=ago(120), ended_at=ago(60), is_listed=False)
    TagSample.objects.create(group=group, topic="Orders", expression="a", looked_at=4, matching=2, asked_at=NOW)
    an_offset_file(group.cluster)
    EvaluationGap.objects.create(began_at=ago(7200), ended_at=ago(7000))
    DueWindow.objects.create(cluster=group.cluster, step_seconds=3600, start=NOW)
    GroupThresholds.objects.create(group=group, behind_seconds=3600)
    LossAcknowledgement.objects.create(group=group, by_name="ann", at=NOW, queues=[])
    GroupHealth.objects.update_or_create(group=group, defaults={"level": "ok", "noted_at": NOW})
    of = {"issuer": "https://sso.example.org", "subject": "f3a1", "name": "bea", "confirmed_at": NOW}
    SignOnAccount.objects.create(user=User.objects.create(username="bea"), **of)
    note(group, "billing", User.objects.create(username="ann"), "Looked at it.", NOW)


def _a_row_of_each() -> dict[str, str]:
    """By app and model, as admin pages spell them."""
    found = ((model, model._default_manager.first()) for model in apps.get_models())
    return {model._meta.label_lower: str(row.pk) for model, row in found if row is not None}
