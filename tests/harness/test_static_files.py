"""Static files are found once for all clients of a process, as long as the settings stay the same."""

from typing import Any

import pytest
from django.test import Client
from whitenoise.middleware import WhiteNoiseMiddleware

from tests.plugins.static_files import found_once


class Counted:
    """A look that counts how often it is asked."""

    def __init__(self) -> None:
        self.looks = 0

    def __call__(self, middleware: WhiteNoiseMiddleware) -> None:
        self.looks += 1
        middleware.files["/static/a.css"] = object()


class Bare(WhiteNoiseMiddleware):
    def __init__(self) -> None:
        self.files = {"/robots.txt": object()}


def test_the_second_client_looks_no_more() -> None:
    counted = Counted()
    once = found_once(counted)
    first, second = Bare(), Bare()
    once(first)
    once(second)
    assert counted.looks == 1
    assert first.files.keys() == second.files.keys() == {"/static/a.css", "/robots.txt"}


def test_under_other_settings_it_looks_again(settings: Any) -> None:
    counted = Counted()
    once = found_once(counted)
    once(Bare())
    settings.STATIC_URL = "/elsewhere/"
    once(Bare())
    assert counted.looks == 2


@pytest.mark.django_db
def test_a_second_client_serves_them() -> None:
    answers = [Client().get("/static/css/variables.css") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].headers["Cache-Control"] == answers[1].headers["Cache-Control"]
    for answer in answers:
        answer.close()
