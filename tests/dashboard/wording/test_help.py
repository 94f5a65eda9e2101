"""Every column head and every measure of every page has a help, which the keyboard reaches."""

import re
from dataclasses import fields
from pathlib import Path

import pytest
from django.test import Client
from django.utils.translation import override

from consumers.groups.rows import GroupRow
from dashboard.pages.groups import NUMBERS as OF_GROUPS
from dashboard.pages.ownership.group_ownership import MEASURES
from dashboard.pages.retries import NUMBERS as OF_RETRIES
from dashboard.wording.help import HELP
from tests.health_rows import a_healthy_group, a_read_cluster

ROOT = Path(__file__).resolve().parents[3]
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
HEAD = re.compile(r'<(?:th(?=[^>]* scope="col")|dt)\b[^>]*>')
DESCRIBED = re.compile(r'{% describe (?:"(?P<name>\w+)"|head\.name)[^%]*%}')
# The heads of lists that can be sorted, and of charts that can be chosen, are made in Python.
MADE = {
    "group",
    "cluster",
    "state",
    "health",
    "line",
    "last_rebalance_at",
    "taken_at",
    *OF_GROUPS,
    *OF_RETRIES,
    *MEASURES,
}
HEADS = [(path, head) for path in TEMPLATES for head in HEAD.findall(path.read_text())]
PAGES = ["/", "/groups/", "/groups/prod/billing/", "/groups/prod/billing/ownership/", "/clusters/", "/states/"]


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT / "templates")))
def test_every_head_of_a_template_has_a_help(path: Path) -> None:
    assert [head for at, head in HEADS if at == path and not DESCRIBED.search(head)] == []


def test_every_help_is_shown_somewhere_and_none_is_missing() -> None:
    named = {found["name"] for path in TEMPLATES for found in DESCRIBED.finditer(path.read_text()) if found["name"]}
    assert named | MADE == set(HELP)


def test_each_column_of_the_list_of_groups_has_its_tooltip_where_it_is_declared() -> None:
    columns = {one.name: one.metadata.get("tooltip") for one in fields(GroupRow) if "column" in one.metadata}
    assert columns
    assert None not in columns.values()
    assert columns.items() <= HELP.items()


@pytest.mark.parametrize("name", HELP)
def test_a_help_is_a_short_sentence(name: str) -> None:
    with override("en"):
        text = str(HELP[name])
    assert re.fullmatch(r"[A-Z≈].{8,118}\.", text)


@pytest.mark.django_db
@pytest.mark.parametrize("page", PAGES)
def test_every_head_of_a_page_is_described_and_takes_the_focus(admin_client: Client, page: str) -> None:
    a_healthy_group(a_read_cluster())
    html = admin_client.get(page).text
    heads = re.findall(r'<th[^>]* scope="col"[^>]*>.*?</th>|<dt[^>]*>', html, re.DOTALL)
    assert heads
    assert [head for head in heads if 'aria-description="' not in head] == []
    assert [head for head in heads if 'tabindex="0"' not in head and "<a " not in head] == []
