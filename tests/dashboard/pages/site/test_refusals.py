"""Whoever asks for what is not there, or may not, is told so within the site."""

import pytest

from tests.world import a_cluster, a_group

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader(client, django_user_model):
    a_group(a_cluster(), "billing")
    client.force_login(django_user_model.objects.create_user("ann"))
    return client


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("/nowhere/", 404, "There is no page at this address."),
        ("/groups/?cluster=gone", 404, "No cluster is registered under the name “gone”."),
        ("/groups/?state=BAD", 400, "“BAD” is not a valid state."),
    ],
)
def test_it_is_told_within_the_frame(reader, path, status, sentence):
    answer = reader.get(path)
    page = answer.content.decode()
    assert answer.status_code == status
    assert sentence in page
    assert '<nav class="rail"' in page
    # Their links would lead to the same address.
    assert 'aria-label="Time range"' not in page


def test_whoever_is_not_logged_in_sees_no_frame(client):
    page = client.get("/nowhere/").content.decode()
    assert "There is no page at this address." in page
    assert '<nav class="rail"' not in page


def test_a_part_of_a_page_gets_no_frame_of_its_own(reader):
    answer = reader.get("/parts/groups/?cluster=gone", headers={"HX-Request": "true"})
    assert answer.status_code == 404
    assert b'<nav class="rail"' not in answer.content


def test_what_is_not_allowed_says_which_role_is_missing(reader):
    answer = reader.get("/groups/prod/billing/dlq/export/?bodies=1")
    page = answer.content.decode()
    assert answer.status_code == 403
    assert "You need the role operator or admin, for the cluster prod or for all clusters" in page
    assert '<nav class="rail"' in page
