"""Long lists in pages: the numbers that an address may name, and lists that have become shorter."""

import pytest
from django.test import Client

from tests.alert_pages import shown
from tests.alert_rows import a_channel, a_note, a_rule, an_incident
from tests.world import a_cluster, a_group, ago


@pytest.mark.parametrize("path", ["/alerts/", "/alerts/channels/", "/alerts/notes/", "/alerts/silences/", "/groups/"])
@pytest.mark.parametrize("number", ["0", "x", "٣", "9999999999", "9" * 5000])
def test_what_is_no_number_of_a_page_is_refused(viewer: Client, path: str, number: str) -> None:
    answer = viewer.get(path, {"page": number})
    assert answer.status_code == 400
    assert "is not a valid page" in answer.text


def test_beyond_the_last_page_is_the_last(viewer: Client) -> None:
    group, rule = a_group(a_cluster()), a_rule()
    over = {"status": "resolved", "ending": "recovered"}
    for seconds in range(26):
        an_incident(rule, group, resolved_at=ago(seconds), **over)
    page = viewer.get("/alerts/?page=7")
    assert "26–26 of 26 previous" in shown(page)
    assert page.context["links"]["previous"].href == "?page=1"


def test_what_fires_is_turned_apart_from_what_is_over(viewer: Client) -> None:
    group, rule = a_group(a_cluster()), a_rule()
    for seconds in range(51):
        an_incident(rule, a_group(group.cluster, f"worker-{seconds}"), started_at=ago(600 + seconds))
    first = viewer.get("/alerts/?severity=warning")
    assert "1–50 of 51 next" in shown(first)
    assert 'id="firing-next" rel="next" href="?severity=warning&amp;firing=2"' in first.text
    second = viewer.get("/alerts/?severity=warning&firing=2")
    assert [row.subject.group for row, _href in second.context["firing"]] == ["worker-50"]
    assert 'href="?severity=warning&amp;range=7d"' in second.text


@pytest.mark.parametrize(("path", "make"), [("/alerts/channels/", a_channel), ("/alerts/notes/", a_note)])
def test_a_list_of_one_page_is_never_turned_to_an_empty_one(viewer: Client, path: str, make: object) -> None:
    make()  # type: ignore[operator]
    assert "1–1 of 1" in shown(viewer.get(f"{path}?page=2"))
