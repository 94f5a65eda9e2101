"""Every page: no zero that was not read, no line at zero, and when it was last known."""

import re
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.figures.time_bars import HEIGHT, PAD
from dashboard.page_urls import urlpatterns
from tests.walk.addresses import PROD_BILLING, addresses
from tests.walk.losses import NO_CLIENT, NO_REBALANCE
from tests.walk.page_text import drawn_heights, said, zeros

# `patterns` shows made-up examples and says so; the others are no pages, or are walked as figures.
NO_PAGES = frozenset(
    {
        "patterns",
        "login",
        "logout",
        "sign_on",
        "sign_on_callback",
        "favicon",
        "theme",
        "times",
        "language",
        "dlq_export",
        "token_revoke",
        "search_suggestions",
        "group_dlq_read",
        "resend_start",
        "resend_cancel",
        "thread_dump",
        "connection_check",
    }
    | {"reset_apply", "reset_resume", "reset_restore", "reset_cancel", "reset_export", "group_offsets_export"}
    | {"incident_acknowledge", "silence_end", "channel_test", "channel_remove", "alert_note_remove"}
    | {"alert_rule_remove", "alert_previews", "alert_preview_cancel", "group_filter_save", "group_filter_remove"}
)
# A part is what its page holds.
OTHERS = ("/parts/", "/figures/")
PATHS = sorted(path for path in addresses(urlpatterns, leave_out=NO_PAGES) if not path.startswith(OTHERS))
GROUP_PAGE = "/groups/prod/billing/"
# Counts of what is listed: of groups by kind, of changes, of brokers that were read, of readings and runs that failed;
# and offsets that a rule or a cure names.
TRUE_ZEROS = re.compile(
    r"0 (?:partial|failed in the last|missed|state changes|rebalances|of \d+ brokers)|0 in '(?:system|inactive) 0'"
    r"|0.* in '.*(?:a retry topic from 0|a member would start at|resetOffsetByTime -s 0|A member that pulls is moved)"
)
UNREAD = {"dead_broker", "polling_stopped", "no_name_server"}
FOOT = HEIGHT - PAD
GREEN = re.compile(r'(?<!<span class="at-rest">)<span class="state state-ok">')


@pytest.fixture
def pages(world: str) -> dict[str, str]:
    client = Client()
    client.force_login(User.objects.create(username="ada", is_staff=True))
    absent = {PROD_BILLING["at"]} if world in NO_REBALANCE else set()
    absent |= {PROD_BILLING["client"]} if world in NO_CLIENT else set()
    paths = [path for path in PATHS if not any(name in path for name in absent)]
    answers = {path: client.get(path) for path in paths}
    assert {path: answer.status_code for path, answer in answers.items()} == dict.fromkeys(paths, 200)
    return {path: answer.text for path, answer in answers.items()}


def test_no_page_says_or_draws_what_was_not_read_or_is_green(pages: dict[str, str], world: str) -> None:
    """One test: to ask for every page takes seconds."""
    found = [(path, zero) for path, html in pages.items() for zero in zeros(html) if not TRUE_ZEROS.match(zero)]
    found += [(path, "a line at zero") for path, html in pages.items() if FOOT in drawn_heights(html)]
    found += _wrongly_green(pages)
    assert sorted(set(found)) == []
    if world in UNREAD:
        assert _says_last_good(pages[GROUP_PAGE])
        assert _says_last_good(pages["/groups/"])


def _wrongly_green(pages: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The group of this world has lost messages, and is blocked: whatever else is known of it."""
    of_group = {path: html for path, html in pages.items() if path.startswith(GROUP_PAGE) and 'id="health"' in html}
    assert len(of_group) >= 5
    for path, html in of_group.items():
        head = html.partition('<p class="verdict"')[2].partition("<dl")[0]
        if 'class="sound"' in html or "no findings" in html:
            yield path, "no findings"
        if GREEN.search(head):
            yield path, "a green state"


def _says_last_good(html: str) -> bool:
    return any(text.startswith("last success") for text in said(html))


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ("<td>0</td>", True),
        ("<td>0 messages</td>", True),
        ("<td>0 <span>messages</span></td>", True),
        ("<td>0/s</td>", True),
        ("<td>0 %</td>", True),
        ("<td>0.0 s</td>", True),
        ('<svg aria-label="lag in the range: 0 to 40 messages"/>', True),
        ('<b title="expired 0"></b>', True),
        ("<td>10</td><td>0.41 s</td><td>10.0.0.7@1</td><td>0/2</td><td>02:14:09</td><td>2026-03-14</td>", False),
        ('<a id="count-warn">0 WARN</a><p>after</p>', False),
        ("<script>var a = 0</script>", False),
    ],
)
def test_the_walk_finds_a_zero(html: str, found: bool) -> None:
    assert bool(list(zeros(html))) is found


def test_the_walk_finds_a_line_at_zero() -> None:
    assert FOOT in drawn_heights(f'<polyline points="2.0,4.0 9.0,{FOOT}.0"/>')
    assert FOOT not in drawn_heights('<polyline points="2.0,4.0 9.0,17.9"/>')
