"""`manage.py token create`"""

from datetime import UTC, datetime
from io import StringIO

import pytest
import time_machine
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from consumers.models import ApiToken

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 14, 3, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def alice():
    return User.objects.create_user("alice")


def create(*arguments: str) -> str:
    out = StringIO()
    with time_machine.travel(NOW, tick=False):
        call_command("token", "create", *arguments, stdout=out)
    return out.getvalue().splitlines()[-1]


def test_it_prints_a_token_that_lets_in():
    token = create("alice")
    assert Client(headers={"authorization": f"Token {token}"}).get("/api/v1/groups/").status_code == 200


def test_it_keeps_no_token():
    token = create("alice", "--name", "grafana")
    row = ApiToken.objects.get()
    assert token not in (row.digest, row.name)
    assert (len(row.digest), row.name, row.created_at, row.expires_at) == (64, "grafana", NOW, None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("30", datetime(2026, 4, 13, 3, 0, tzinfo=UTC)),
        ("2026-03-20", datetime(2026, 3, 21, tzinfo=UTC)),
        ("2026-03-20T12:00", datetime(2026, 3, 20, 12, tzinfo=UTC)),
        ("2026-03-20T12:00+02:00", datetime(2026, 3, 20, 10, tzinfo=UTC)),
    ],
)
def test_it_lets_a_token_expire(text, expected):
    create("alice", "--expires", text)
    assert ApiToken.objects.get().expires_at == expected


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["bob"], "There is no user 'bob'"),
        (["alice", "--expires", "soon"], "must be days or an ISO 8601 date or time, not 'soon'"),
        (["alice", "--expires", "2026-02-30"], "must be days or an ISO 8601 date or time"),
        (["alice", "--expires", "99999999999999"], "must be days or an ISO 8601 date or time"),
        (["alice", "--expires", "0"], "must be in the future"),
        (["alice", "--expires", "2026-03-13"], "must be in the future"),
    ],
)
def test_it_says_in_one_sentence_what_is_wrong(arguments, sentence):
    with pytest.raises(CommandError, match=sentence):
        create(*arguments)
    assert not ApiToken.objects.exists()


def test_it_makes_no_token_for_whoever_is_not_active(alice):
    alice.is_active = False
    alice.save()
    with pytest.raises(CommandError, match="is not active"):
        create("alice")
