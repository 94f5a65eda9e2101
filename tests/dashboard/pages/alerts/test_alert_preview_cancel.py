"""A preview that waits or runs is cancelled on its page, and says who did so and when."""

import uuid

import pytest
from django.contrib.auth.models import User
from django.utils.translation import override

from consumers.models import RulePreview
from dashboard.wording.numbers import day_and_time
from tests.alert_rows import a_preview
from tests.preview_pages import done, shown
from tests.world import NOW, ago

pytestmark = pytest.mark.django_db
BUTTON = 'id="cancel"'


def cancel(client, row):
    return client.post(f"/alerts/previews/{row.pk}/cancel/")


@pytest.mark.parametrize("status", ["waiting", "running"])
def test_what_is_not_done_is_cancelled(operator, status):
    row = a_preview(status=status)
    assert BUTTON in shown(operator, row)
    answer = cancel(operator, row)
    assert (answer.status_code, answer["Location"]) == (302, f"/alerts/previews/{row.pk}/")
    row.refresh_from_db()
    assert (row.status, row.cancelled_by_name, row.finished_at) == ("cancelled", "operator", NOW)


def test_it_says_who_cancelled_it_and_when(operator):
    page = shown(operator, a_preview(status="cancelled", cancelled_by_name="vera", finished_at=ago(120)))
    assert "Cancelled by vera" in page
    assert ago(120).isoformat()[:16] in page
    assert BUTTON not in page
    assert "data-live" not in page


def test_what_is_done_cannot_be_cancelled_any_more(operator):
    row = done()
    assert BUTTON not in shown(operator, row)
    answer = cancel(operator, row)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "this one is done" in page
    assert "It would have fired 3 times" in page


def test_a_viewer_cancels_none_of_others(viewer):
    row = a_preview()
    assert BUTTON not in shown(viewer, row)
    assert cancel(viewer, row).status_code == 403
    assert RulePreview.objects.get().status == "waiting"


def test_whoever_asked_cancels_their_own_without_a_role(viewer):
    row = a_preview(by=User.objects.get(username="viewer"))
    assert BUTTON in shown(viewer, row)
    assert cancel(viewer, row).status_code == 302


def test_one_that_is_not_there_is_not_found(operator):
    assert operator.post(f"/alerts/previews/{uuid.uuid4()}/cancel/").status_code == 404


@pytest.mark.parametrize(
    ("others", "says"),
    [
        ([], None),
        (["running"], "1 earlier preview runs first"),
        (["running", "waiting", "done"], "2 earlier previews run first"),
    ],
)
def test_it_says_how_many_come_before_it(operator, others, says):
    for status in others:
        a_preview(status=status, created_at=ago(60))
    page = shown(operator, a_preview())
    assert ("first." in page) is (says is not None)
    assert says is None or says in page


@pytest.mark.parametrize(("seconds", "says"), [(89, "The limit is 60 s"), (90, "its worker may have ended")])
def test_one_that_runs_for_too_long_says_what_may_be(operator, seconds, says):
    assert says in shown(operator, a_preview(status="running", started_at=ago(seconds)))


def test_both_ends_of_its_range_say_their_day(operator):
    assert "7 Mar 03:00:00 to 14 Mar 03:00:00 UTC" in shown(operator, a_preview())


def test_a_day_is_written_as_in_the_language_of_the_page():
    with override("zh-hans"):
        assert (day_and_time(ago(0)), day_and_time(ago(86400))) == ("3月14日 03:00:00", "3月13日 03:00:00")


def test_the_form_leads_to_the_one_that_is_not_done(operator):
    a_preview(by=User.objects.create_user("vera"), status="running", created_at=ago(10))
    row = a_preview(by=User.objects.get(username="operator"), status="running")
    page = operator.get("/alerts/rules/add/").content.decode()
    assert f'href="/alerts/previews/{row.pk}/"' in page
    cancel(operator, row)
    assert 'id="unfinished"' not in operator.get("/alerts/rules/add/").content.decode()
