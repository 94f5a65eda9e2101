"""The page's own address of an export: the same file, for who is logged in."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from consumers.jobs.hold import close_wires
from tests.dead_letter_broker import DeadLetterBroker, a_dead_letter_broker, stored_letter
from tests.world import a_broker, a_cluster, a_group

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("tasks_at_once", "broker")]
URL = "/groups/prod/billing/dlq/export/"


@pytest.fixture
def broker() -> Iterator[DeadLetterBroker]:
    with a_dead_letter_broker({offset: stored_letter(offset) for offset in range(3)}) as broker:
        cluster = a_cluster()
        a_broker(cluster, address=broker.address)
        a_group(cluster)
        yield broker
        close_wires()


def as_role(role: str) -> Client:
    user = User.objects.create(username=f"an-{role}")
    user.groups.add(Group.objects.get(name=role))
    client = Client()
    client.force_login(user)
    return client


def test_it_is_a_file_of_all_letters() -> None:
    answer = as_role("viewer").get(URL)
    lines = b"".join(answer.streaming_content).decode().splitlines()  # type: ignore[attr-defined]
    assert len(lines) == 4
    assert answer.headers["content-disposition"].startswith("attachment")


@pytest.mark.parametrize(("role", "status"), [("viewer", 403), ("operator", 200)])
def test_bodies_are_for_those_who_may_see_them(role: str, status: int) -> None:
    answer = as_role(role).get(URL, {"bodies": "1"})
    answer.close()
    assert answer.status_code == status


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ({"format": "xml"}, "“xml” is not a valid format"),
        ({"bodies": "2"}, "“2” is not a valid bodies"),
        ({"from": "soon"}, "“soon”"),
        ({"colour": "red"}, "“colour” is not a filter"),
        ({"tag": ""}, "“tag” is empty"),
    ],
)
def test_what_makes_no_sense_is_refused(query: dict[str, str], says: str) -> None:
    answer = as_role("viewer").get(URL, query)
    assert answer.status_code == 400
    assert says in answer.text


def test_what_cannot_be_read_is_a_page_that_says_why(settings: Any, tmp_path: Path) -> None:
    settings.REDIS_URL = f"unix://{tmp_path}/nobody.sock"
    answer = as_role("viewer").get(URL)
    assert answer.status_code == 503
    assert "Redis does not answer" in answer.text


def test_it_wants_a_login_a_group_and_get(client: Client) -> None:
    assert client.get(URL).status_code == 302
    assert as_role("viewer").get(URL.replace("billing", "nobody")).status_code == 404
    assert as_role("operator").head(URL).status_code == 405
