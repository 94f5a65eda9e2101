"""The rules of alerts as a list, and the form of one."""

from importlib import import_module

import pytest
from django.apps import apps
from django.test import Client

from consumers.models import AlertRule
from tests.alert_rows import a_rule, an_evaluation, an_incident
from tests.world import a_cluster, a_group

pytestmark = pytest.mark.django_db

DEFAULTS = import_module("consumers.migrations.0003_rules")

TYPED = {
    "name": "Slow",
    "measure": "time_lag_seconds",
    "comparison": "above",
    "threshold": "10 min",
    "clear_seconds": "2 min",
    "clear_threshold": "5 min",
    "for_seconds": "90 s",
    "severity": "critical",
    "enabled": "1",
    "cluster": "prod",
    "group_pattern": "bill*",
    "topic": "",
    "labels": "team=payments",
    "overrides": "audit on prod: off",
    "runbook_url": "https://wiki.example.org/slow",
    "note": "Look at its members.",
}


def text(client: Client, path: str) -> str:
    return client.get(path).content.decode()


def test_the_list_says_each_rule_in_words(operator):
    a_rule("Far behind", group_pattern="bill*", overrides=[{"group_pattern": "audit", "enabled": False}])
    said = text(operator, "/alerts/rules/")
    assert "time lag &gt; 5 min for 5 min" in said
    assert "groups bill*" in said
    assert "1 override" in said


def test_it_says_how_many_fire(operator):
    rule = a_rule("Far behind")
    an_incident(rule, a_group(a_cluster()))
    an_evaluation()
    assert f'<a href="/alerts/?rule={rule.pk}">1</a>' in text(operator, "/alerts/rules/")


def test_how_many_fire_is_unknown_while_nothing_is_evaluated(operator):
    an_incident(a_rule("Far behind"), a_group(a_cluster()))
    said = text(operator, "/alerts/rules/")
    assert "<b>unknown</b> alert rules have not been evaluated yet" in said


def test_no_rule_is_said(operator):
    assert "No rules: nothing is evaluated" in text(operator, "/alerts/rules/")


@pytest.mark.parametrize(("switch", "enabled"), [("on", True), ("off", False)])
def test_a_rule_is_switched_from_the_list(operator, switch, enabled):
    rule = a_rule("Far behind", enabled=not enabled, threshold=700)
    answer = operator.post(f"/alerts/rules/{rule.pk}/", {"switch": switch})
    assert (answer.status_code, answer["Location"]) == (302, "/alerts/rules/")
    rule.refresh_from_db()
    assert (rule.enabled, rule.threshold) == (enabled, 700)


def test_a_viewer_looks_and_changes_nothing(viewer):
    rule = a_rule("Far behind", note="Restart it.")
    assert "disable" not in text(viewer, "/alerts/rules/")
    said = text(viewer, f"/alerts/rules/{rule.pk}/")
    assert "<form class=" not in said
    assert "Restart it." in said
    assert viewer.post(f"/alerts/rules/{rule.pk}/", {"switch": "off"}).status_code == 403
    assert viewer.post("/alerts/rules/add/", TYPED).status_code == 403
    assert viewer.post(f"/alerts/rules/{rule.pk}/remove/").status_code == 403


def test_a_rule_is_added_as_it_is_typed(operator):
    assert operator.post("/alerts/rules/add/", TYPED).status_code == 302
    rule = AlertRule.objects.get(name="Slow")
    assert (rule.threshold, rule.clear_threshold, rule.for_seconds, rule.clear_seconds) == (600, 300, 90, 120)
    assert (rule.cluster, rule.group_pattern, rule.labels) == ("prod", "bill*", {"team": "payments"})
    assert rule.overrides == [{"group_pattern": "audit", "cluster": "prod", "enabled": False}]
    assert (rule.severity, rule.enabled, rule.note) == ("critical", True, "Look at its members.")


def test_a_rule_of_states_is_added(operator):
    typed = {
        "name": "Stuck",
        "measure": "state",
        "states": ["STALL", "STOP"],
        "severity": "critical",
        "for_seconds": "",
    }
    assert operator.post("/alerts/rules/add/", typed).status_code == 302
    rule = AlertRule.objects.get(name="Stuck")
    assert (rule.comparison, rule.states, rule.threshold) == ("in", ["STOP", "STALL"], None)
    assert (rule.for_seconds, rule.enabled) == (0, False)


def test_what_is_typed_for_a_measure_that_has_it_not_is_left_out(operator):
    typed = TYPED | {"measure": "judgement_age_seconds", "overrides": ""}
    assert operator.post("/alerts/rules/add/", typed).status_code == 302
    rule = AlertRule.objects.get(name="Slow")
    assert (rule.cluster, rule.group_pattern, rule.labels) == ("", "", {})


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_every_default_rule_is_kept_as_its_form_shows_it(operator, language):
    operator.cookies["language"] = language
    DEFAULTS.make(apps, None)
    assert AlertRule.objects.count() == len(DEFAULTS.RULES)
    for rule in AlertRule.objects.all():
        lines = operator.get(f"/alerts/rules/{rule.pk}/").context["lines"]
        typed = {name: line["value"] for name, line in lines.items()}
        typed["enabled"] = "1" if typed["enabled"] else ""
        assert operator.post(f"/alerts/rules/{rule.pk}/", typed).status_code == 302
        kept = AlertRule.objects.get(pk=rule.pk)
        changed = [
            field.name
            for field in AlertRule._meta.fields
            if not field.name.startswith("changed_") and getattr(kept, field.name) != getattr(rule, field.name)
        ]
        assert changed == [], rule.name


@pytest.mark.parametrize(
    ("wrong", "field", "says"),
    [
        ({"name": ""}, "name", "Must not be empty"),
        ({"measure": "mood"}, "measure", "Choose a measure"),
        ({"threshold": "soon"}, "threshold", "Write a length of time"),
        ({"threshold": ""}, "threshold", "give it a threshold"),
        ({"clear_threshold": "20 min"}, "clear_threshold", "at or below the threshold"),
        ({"for_seconds": "soon"}, "for_seconds", "Write a length of time"),
        ({"labels": "payments"}, "labels", "is not a label"),
        ({"overrides": "audit"}, "overrides", "is not an override"),
        ({"severity": "dire"}, "severity", "one of critical"),
    ],
)
def test_what_is_wrong_is_said_at_its_field_and_nothing_is_kept(operator, wrong, field, says):
    answer = operator.post("/alerts/rules/add/", TYPED | wrong)
    said = answer.content.decode()
    assert answer.status_code == 400
    assert says in dict(answer.context["problems"])[f"field-{field}"]
    assert "Could not save:" in said
    assert "Look at its members." in said
    assert not AlertRule.objects.filter(name="Slow").exists()


@pytest.mark.parametrize("path", ["/alerts/rules/add/", "/alerts/previews/"])
def test_an_empty_form_is_shown_again(operator, path):
    assert operator.post(path, {}).status_code == 400


def test_the_fields_of_another_measure_are_shown_without_keeping(operator):
    answer = operator.post("/alerts/rules/add/", TYPED | {"measure": "state", "look": "1"})
    said = answer.content.decode()
    assert 'name="states" value="STALL"' in said
    assert 'name="threshold"' not in said
    assert not AlertRule.objects.filter(name="Slow").exists()


def test_a_link_fills_the_form(operator):
    said = text(
        operator, "/alerts/rules/add/?measure=lag_messages&threshold=1,000&group_pattern=billing&of_cluster=prod"
    )
    assert 'name="threshold" value="1,000"' in said
    assert 'name="group_pattern" value="billing"' in said
    assert 'name="cluster" value="prod"' in said


def test_a_rule_that_was_made_here_is_removed(operator):
    rule = a_rule("Far behind")
    assert operator.post(f"/alerts/rules/{rule.pk}/remove/").status_code == 302
    assert not AlertRule.objects.filter(pk=rule.pk).exists()


def test_one_that_the_site_came_with_is_not_removed(operator):
    rule = a_rule("Stopped", key="stopped")
    assert "Remove the rule" not in text(operator, f"/alerts/rules/{rule.pk}/")
    answer = operator.post(f"/alerts/rules/{rule.pk}/remove/")
    assert answer.status_code == 409
    assert "disable it instead" in answer.content.decode()


@pytest.mark.parametrize("path", ["/alerts/rules/99999/", "/alerts/rules/99999/remove/"])
def test_a_rule_that_is_not_there_is_not_found(operator, path):
    assert operator.post(path, TYPED).status_code == 404


def test_a_measure_without_a_past_offers_no_preview(operator):
    rule = a_rule("Held", measure="blocked_seconds", threshold=600)
    said = text(operator, f"/alerts/rules/{rule.pk}/")
    assert "No preview: this measure has no history." in said
    assert 'formaction="/alerts/previews/"' not in said


def test_a_copy_begins_with_all_that_its_rule_has(operator: Client) -> None:
    rule = a_rule("Far behind", threshold=420, severity="critical", group_pattern="bill*")
    page = operator.get(f"/alerts/rules/add/?copy={rule.pk}").text
    assert 'name="name" value="Copy of Far behind"' in page
    assert 'name="threshold" value="7 min"' in page
    assert 'name="group_pattern" value="bill*"' in page
    assert f'href="/alerts/rules/add/?copy={rule.pk}"' in operator.get(f"/alerts/rules/{rule.pk}/").text


@pytest.mark.parametrize("number", ["9", "x", "1" * 30])
def test_there_is_no_copy_of_a_rule_that_is_not_there(operator: Client, number: str) -> None:
    assert operator.get(f"/alerts/rules/add/?copy={number}").status_code == 404


def test_the_form_of_a_built_in_rule_is_in_the_reader_s_language(operator: Client) -> None:
    DEFAULTS.make(apps, None)
    operator.cookies["language"] = "zh-hans"
    lines = operator.get(f"/alerts/rules/{AlertRule.objects.get(name='Stalled').pk}/").context["lines"]
    assert lines["name"]["value"] == "停滞"
    assert "位点" in lines["note"]["value"]
