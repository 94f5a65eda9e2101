"""The page of repeats over all groups, and the tab of one."""

import pytest
import time_machine

from consumers.models import PipelineRun
from tests.rebalance_rows import a_part, a_repeat, a_repeat_of_unknown_queues, was_watched
from tests.world import NOW, a_cluster, a_group, a_judged_group, ago

pytestmark = pytest.mark.django_db
TAB = "/groups/prod/billing/repeats/"


@pytest.fixture
def billing():
    with time_machine.travel(NOW, tick=False):
        group = a_group(a_cluster())
        a_judged_group(group)
        PipelineRun.objects.create(since=ago(50), until=ago(20), started_at=ago(20), finished_at=ago(18))
        yield group


@pytest.fixture
def shown(admin_client):
    def shown(url, **query):
        answer = admin_client.get(url, query)
        assert answer.status_code == 200
        return " ".join(answer.content.decode().split())

    return shown


@pytest.mark.parametrize("url", ["/repeats/", "/parts/repeats/", TAB, f"/parts{TAB}"])
def test_it_shows_the_cause_its_evidence_and_what_to_do(billing, shown, url):
    a_repeat(billing)

    page = shown(url)

    for text in ("consumer crashed", "proven", "10.0.0.7@3312 left", "40 to 120", "Find out why the member ended"):
        assert text in page
    assert "Orders broker-a/0 · offsets 900 to 1,019 · 40 to 120" in page


@pytest.mark.parametrize("url", ["/repeats/", TAB])
def test_a_remedy_is_said_once_however_many_repeats_it_is_for(billing, shown, url):
    a_repeat(billing)
    a_repeat(billing, ago(900))

    page = shown(url)

    assert (page.count("10.0.0.7@3312 left"), page.count("Find out why the member ended")) == (2, 1)


def test_a_bound_that_is_unknown_is_no_zero_and_has_its_reason(billing, shown):
    part = a_part(ago(600), low=None, high=None, from_offset=None, until_offset=None, unknown="owner_not_sampled")
    reasons = dict.fromkeys(("redelivered_low", "redelivered_high"), "owner_not_sampled")
    a_repeat(billing, redelivered_low=None, redelivered_high=None, parts=[part], unknown=reasons)

    page = shown(TAB)

    assert "the owners around the move were not sampled" in page
    assert "Orders broker-a/0 · <" in page


def test_an_upper_bound_alone_that_is_unknown_leaves_the_least(billing, shown):
    a_repeat(billing, redelivered_high=None, unknown={"redelivered_high": "overlap_not_counted"})

    assert '<span title="RocketMQ does not count what two owners both consume">≥ 40</span>' in shown(TAB)


def test_a_repeat_of_queues_that_nobody_knows_has_no_number_of_either(billing, shown):
    row = a_repeat_of_unknown_queues(billing)

    page = shown(TAB)

    assert "the owners around the move were not sampled" in page
    assert f'<details id="queues-of-{row.pk}"><summary>≥ 1</summary>' in page
    assert "<li>Orders · <" in page


def test_a_total_with_an_unknown_number_is_a_lower_bound(billing, shown):
    was_watched(billing.cluster, 3600)
    a_repeat(billing)
    a_repeat_of_unknown_queues(billing, ago(300))

    assert "consumer crashed ≥ 40" in shown("/repeats/")


def test_causes_have_totals_that_filter(billing, shown):
    was_watched(billing.cluster, 3600)
    a_repeat(billing)
    a_repeat(billing, ago(300), cause="reset", redelivered_low=7, redelivered_high=7)

    page = shown("/repeats/")
    assert 'href="?cause=reset"' in page
    assert "offset reset 7" in page

    filtered = shown("/repeats/", cause="reset")
    assert "Nothing, if the reset was intended" in filtered
    assert "Find out why the member ended" not in filtered


def test_the_tab_shows_its_own_group_alone(billing, shown):
    other = a_group(billing.cluster, "stock")
    a_repeat(other, cause="reset")

    assert "No repeat found in the last" in shown(TAB)


def test_repeats_of_a_range_that_was_partly_watched_are_a_lower_bound(billing, shown):
    was_watched(billing.cluster, 1800)
    a_repeat(billing)
    for page in (shown("/repeats/"), shown(TAB)):
        assert "there may be more repeats" in page
        assert "1–1 of ≥ 1 repeat" in page
        assert 'title="≥ 1 event">consumer crashed ≥ 40</a>' in page


def test_repeats_of_a_range_that_was_always_watched_are_all(billing, shown):
    was_watched(billing.cluster, 3600)
    a_repeat(billing)
    page = shown(TAB)
    assert "1–1 of 1 repeat" in page
    assert 'title="1 event">consumer crashed 40 to 120</a>' in page


def test_what_would_be_redelivered_now_stands_beside_what_was(billing, shown):
    assert "If all consumers crash now:" in shown(TAB)


def test_nothing_found_is_not_said_while_nothing_is_evaluated(shown):
    with time_machine.travel(NOW, tick=False):
        a_group(a_cluster())
        page = shown("/repeats/")
    assert "No repeat found" not in page
    assert "Unknown since then:" in page


def test_it_says_what_it_cannot_detect(billing, shown):
    assert "POP and broadcasting members and duplicates" in shown(TAB)


def test_an_unknown_cause_in_the_address_is_refused(billing, admin_client):
    assert admin_client.get("/repeats/", {"cause": "magic"}).status_code == 400


def test_a_group_that_nobody_knows_is_missing(billing, admin_client):
    assert admin_client.get("/groups/prod/nobody/repeats/").status_code == 404


def test_the_lag_figure_marks_repeats(billing, admin_client):
    a_repeat(billing)

    figure = admin_client.get("/figures/prod/billing/lag/").content.decode()

    assert "redelivered 40 to 120: consumer crashed" in figure


def test_a_mark_says_that_a_cause_is_only_possible(billing, admin_client):
    a_repeat(billing, confidence="possible")

    figure = admin_client.get("/figures/prod/billing/lag/").content.decode()

    assert "redelivered 40 to 120: possibly consumer crashed" in figure


def test_the_rail_and_the_tabs_lead_there(billing, shown):
    page = shown(TAB)

    assert 'id="tab-group_repeats" href="/groups/prod/billing/repeats/" aria-current="page"' in page
    assert 'href="/repeats/"' in page


def test_what_is_only_possible_comes_after_what_is_proven(billing, shown):
    possible = a_repeat_of_unknown_queues(billing, ago(100))
    proven = a_repeat(billing, ago(600))

    page = shown("/repeats/")

    places = [
        page.index(text) for text in (f'"repeats-of-{proven.pk}"', "Only possible", f'"repeats-of-{possible.pk}"')
    ]
    assert places == sorted(places)
    assert page.count("Only possible") == 1


def test_without_possible_ones_there_is_no_heading_of_them(billing, shown):
    a_repeat(billing)

    assert "Only possible" not in shown("/repeats/")
