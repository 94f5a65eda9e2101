"""Who is operator of one cluster alone acts there as an operator of all does, and elsewhere as a viewer does."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from consumers.models import ConsumerGroup, GroupNote, Incident, Silence
from tests.access.addresses import Address, every_address
from tests.access.conftest import Site, World
from tests.access.rules import PAGE, rule_for, rules
from tests.access.test_every_address import columns_of, in_words
from tests.alert_rows import a_note, a_silence

RULES = rules(PAGE.read_text())
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
# What covers several clusters.
OF_ALL = ("/alerts/channels/", "/alerts/rules/", "/alerts/previews/")
OF_ALL_BY_REST = ("/api/v1/alert-rules/", "/api/v1/channels/", "/api/v1/alert-previews/")
# What is sent says of which cluster it is; and rows 1001 of the walked world are of all clusters.
SAID_WITHIN = ("/alerts/silences/", "/alerts/notes/", "/selected/", "/api/v1/silences/", "/api/v1/group-notes/")
REFUSED = {"400", "403", "404", "405", "409"}


def acts() -> Iterator[tuple[Address, str, frozenset[str], frozenset[str]]]:
    """What an operator is answered otherwise than a viewer: to whom what."""
    for address in every_address():
        if address.route.startswith("/admin/"):
            continue
        columns = columns_of(address)
        for method in METHODS:
            rule = rule_for(RULES, address.route, method, frozenset(columns))
            if rule is not None and rule.answers["viewer"] != rule.answers["operator"]:
                yield address, method, frozenset(rule.answers["viewer"]), frozenset(rule.answers["operator"])


ACTS = list(acts())


def asked(world: World, address: Address, method: str, cluster: str) -> Iterator[str]:
    by = "operator-of-" + cluster
    names = [by, f"{by} by token"] if address.route.startswith("/api/") else [by]
    for name in names:
        with world.undone():
            yield in_words(Site().answer(world.askers[name].request(method, world.path_of(address))))


@pytest.fixture(autouse=True)
def _refusals_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("ERROR", "django.request")


def test_on_the_own_cluster_they_are_answered_as_operators(world: World) -> None:
    wrong = []
    for address, method, viewer, operator in ACTS:
        if address.route.startswith(SAID_WITHIN):
            continue
        expected = viewer if address.route.startswith(OF_ALL + OF_ALL_BY_REST) else operator
        wrong += [
            f"{method} {address.route}: {said}"
            for said in asked(world, address, method, "prod")
            if said not in expected
        ]
    assert not wrong, "\n".join(wrong)


def test_on_another_cluster_they_are_refused_as_viewers(world: World) -> None:
    wrong = []
    for address, method, viewer, _operator in ACTS:
        is_said_within = address.route.startswith((*SAID_WITHIN, "/api/v1/resets/")) or method != "POST"
        wrong += [
            f"{method} {address.route}: {said}"
            for said in asked(world, address, method, "staging")
            if said not in (REFUSED if is_said_within else viewer)
        ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("act", ["apply", "resume", "restore", "cancel"])
def test_a_reset_of_another_cluster_is_not_touched(world: World, act: str) -> None:
    (address,) = (one for one in every_address() if one.route == f"/api/v1/resets/<uuid:reset>/{act}/")
    assert list(asked(world, address, "POST", "staging")) == ["403", "403"]


def said(world: World, by: str, method: str, path: str, body: dict[str, Any]) -> tuple[int, str]:
    answer = Site().answer(world.askers[by].request(method, path, json.dumps(body).encode()))
    return answer.status_code, answer.content.decode()  # type: ignore[attr-defined]


SILENCE = {"reason": "deploy", "ends_at": "2026-03-14T05:00:00Z"}
NOTE = {"group_pattern": "bill*", "owner": "payments"}
RESET = {"group": "billing", "target": {"kind": "latest"}, "reason": "skip"}


@pytest.mark.parametrize(
    ("path", "body"),
    [("/api/v1/silences/", SILENCE), ("/api/v1/group-notes/", NOTE)],
)
@pytest.mark.parametrize(
    ("scope", "status"), [("prod", 201), ("staging", 403), ("prod*", 403), ("gone", 403), (None, 403)]
)
def test_silences_and_notes_are_made_of_the_own_cluster_alone(
    world: World, path: str, body: dict[str, Any], scope: str | None, status: int
) -> None:
    everything = {"everything": True} if scope is None and "silences" in path else {}
    code, text = said(world, "operator-of-prod by token", "POST", path, {**body, "cluster": scope, **everything})
    assert (code, "operator or admin" in text) == (status, status == 403)


def test_a_reset_is_planned_of_the_own_cluster_alone(world: World) -> None:
    code, text = said(world, "operator-of-staging by token", "POST", "/api/v1/resets/", RESET | {"cluster": "prod"})
    assert (code, "for the cluster prod or for all clusters" in text) == (403, True)


def test_a_note_is_neither_taken_from_another_cluster_nor_given_to_it(world: World) -> None:
    note = a_note(cluster="prod")
    path = f"/api/v1/group-notes/{note.pk}/"
    assert said(world, "operator-of-staging by token", "PATCH", path, {"cluster": "staging"})[0] == 403
    assert said(world, "operator-of-prod by token", "PATCH", path, {"cluster": "staging"})[0] == 403
    assert said(world, "operator-of-staging by token", "DELETE", path, {})[0] == 403
    assert GroupNote.objects.get(pk=note.pk).cluster == "prod"
    assert said(world, "operator-of-prod by token", "DELETE", path, {})[0] == 204


def test_a_silence_of_another_cluster_is_not_ended(world: World) -> None:
    silence = a_silence(cluster="prod")
    path, ends_at = f"/api/v1/silences/{silence.pk}/", silence.ends_at
    assert said(world, "operator-of-staging by token", "DELETE", path, {})[0] == 403
    assert Silence.objects.get(pk=silence.pk).ends_at == ends_at
    assert said(world, "operator-of-prod by token", "DELETE", path, {})[0] == 200


def test_an_incident_of_the_whole_site_is_for_operators_of_all_clusters(world: World) -> None:
    incident = Incident.objects.filter(status="firing").first()
    assert incident is not None
    Incident.objects.filter(pk=incident.pk).update(cluster_name="", group_name="")
    path = f"/api/v1/alerts/{incident.pk}/acknowledge/"
    assert said(world, "operator-of-prod by token", "POST", path, {})[0] == 403
    assert said(world, "operator by token", "POST", path, {})[0] == 200


def page(world: World, by: str, path: str) -> str:
    return Site().answer(world.askers[by].request("GET", path)).content.decode()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("path", "mark"),
    [
        ("/groups/prod/billing/", 'id="plan-a-reset"'),
        ("/groups/prod/billing/", 'id="silence-group"'),
        ("/groups/prod/billing/offsets/", "/groups/prod/billing/resets/plan/"),
        ("/groups/prod/billing/dlq/", 'id="resend-all"'),
        ("/groups/prod/billing/dlq/", "bodies=1"),
        ("/clients/prod/10.0.0.7@3312/", 'id="dump"'),
    ],
)
def test_pages_offer_what_may_be_done_on_their_cluster(world: World, path: str, mark: str) -> None:
    assert mark in page(world, "operator-of-prod", path)
    assert mark not in page(world, "operator-of-staging", path)


def test_selected_groups_of_two_clusters_need_the_role_for_both(world: World) -> None:
    group = ConsumerGroup.objects.get(cluster__name="prod", name="billing")
    ConsumerGroup.objects.create(
        cluster_id=group.cluster.__class__.objects.get(name="staging").pk,
        name="audit",
        kind="user",
        first_seen_at=group.first_seen_at,
    )
    path = "/selected/plan/?group=prod/billing&group=staging/audit"
    assert "for the cluster staging or for all clusters" in page(world, "operator-of-prod", path)
    assert "for the cluster prod or for all clusters" in page(world, "operator-of-staging", path)
