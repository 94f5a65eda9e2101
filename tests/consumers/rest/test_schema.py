"""The schema describes exactly what is answered."""

from io import StringIO

import pytest
import yaml
from django.core.management import call_command

from consumers.rest.summaries import opening
from tests.openapi import operations, schema

OF_ALERTS = {
    f"/api/v1/{path}/"
    for path in (
        *("alerts", "alerts/{incident}", "alerts/{incident}/acknowledge", "alert-rules", "alert-rules/{rule}"),
        *("alert-previews", "alert-previews/{preview}", "alert-previews/{preview}/cancel"),
        *("silences", "silences/{silence}", "channels"),
        *("channels/{channel}", "channels/{channel}/deliveries", "channels/{channel}/test"),
        *("group-notes", "group-notes/{note}", "prometheus-rules"),
    )
}


def test_it_is_valid_and_nothing_in_it_had_to_be_guessed():
    out = StringIO()
    call_command("spectacular", validate=True, fail_on_warn=True, stdout=out)
    assert yaml.safe_load(out.getvalue())["openapi"].startswith("3.1")


@pytest.mark.django_db
def test_it_names_every_path(api):
    paths = yaml.safe_load(api.get("/api/schema/").content)["paths"]
    under = "/api/v1/groups/{cluster}/{group}/"
    expected = {
        "/api/v1/clusters/",
        "/api/v1/groups/",
        "/api/v1/group-filters/",
        "/api/v1/group-filters/{filter}/",
        "/api/v1/rebalances/",
        "/api/v1/repeats/",
        "/api/v1/findings/",
        "/api/v1/topics/{cluster}/{topic}/",
        "/api/v1/clients/{cluster}/{client}/",
        "/api/v1/clients/{cluster}/{client}/threads/",
        under,
    }
    names = (
        "queues",
        "members",
        "members/rates",
        "assignments",
        "subscriptions",
        "offsets",
        "history",
        "status",
        "rebalances",
        "repeats",
    )
    names += ("retries", "dlq", "findings", "log-events", "lost-offsets/acknowledge", "messages/{message}/attempts")
    of_resends = {f"/api/v1/resends/{{resend}}/{act}" for act in ("", "messages/", "start/", "cancel/")}
    acts = [f"{{reset}}/{act}/" for act in ("queues", "export", "apply", "resume", "restore", "cancel")]
    of_resets = {f"/api/v1/resets/{act}" for act in ("", "export/", "{reset}/", *acts)}
    of_groups = {
        f"{under}{name}/" for name in (*names, "dlq/export", "offsets/export", "resends", "lost-offsets/acknowledge")
    }
    assert set(paths) == expected | of_groups | of_resends | of_resets | OF_ALERTS


@pytest.mark.parametrize("name", ["groups", "alert", "group_status"])
def test_it_says_that_an_answer_which_the_caller_has_is_not_sent_again(name):
    [operation] = [one for one in operations() if one.name == name]
    assert set(operation.said["responses"]["304"]) == {"description"}


@pytest.mark.parametrize(
    ("name", "is_chosen_from"),
    [("Group", True), ("GroupDetail", True), ("Subscription", True), ("Difference", False), ("GroupsPage", False)],
)
def test_fields_leaves_members_out_of_rows_and_not_of_what_stands_beside_them(name, is_chosen_from):
    assert ("required" not in schema()["components"]["schemas"][name]) is is_chosen_from


@pytest.mark.django_db
def test_its_page_loads_nothing_from_elsewhere_and_runs_no_inline_script(api):
    answer = api.get("/api/docs/")
    policy = answer["Content-Security-Policy"]
    assert "style-src 'self' 'unsafe-inline'" in policy
    assert "script-src 'self';" in f"{policy};"
    assert b"http" not in answer.content.replace(b"http://testserver", b"")
    assert b"<script>" not in answer.content


def test_every_operation_has_a_summary_of_one_line():
    found = {f"{one.name} {one.said.get('summary')}": one.said.get("summary") or "" for one in operations()}
    assert [name for name, summary in found.items() if not 0 < len(summary) <= 120 or "\n" in summary] == []


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ("Removes a rule. Its incidents\nresolve.", "Removes a rule"),
        ("Messages, without\ntheir bodies; newest first.", "Messages, without their bodies"),
        ("Rows of 1.5 kB at most", "Rows of 1.5 kB at most"),
        ("", None),
    ],
)
def test_a_summary_is_how_the_description_opens(description, expected):
    assert opening(description) == expected
