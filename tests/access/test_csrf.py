"""A session changes nothing without the page's CSRF token; a token of REST needs none."""

import pytest

from tests.access.addresses import every_address
from tests.access.conftest import Site, World

# PUT and PATCH are told apart from them by nothing that looks for the token.
CHANGES = ("POST", "DELETE")
SENTENCE = b"CSRF Failed: CSRF cookie not set."


@pytest.mark.either_database("none is asked: requests are refused before")
def test_no_address_takes_a_change_of_a_session_without_it(world: World) -> None:
    site, admin = Site(), world.askers["admin"]
    taken = []
    for address in every_address():
        path = world.path_of(address)
        for method in CHANGES:
            with world.undone():
                code = site.answer(admin.request(method, path), csrf=True).status_code
            if code != 403:
                taken.append(f"{method} {path}: {code}")
    assert not taken


@pytest.mark.parametrize(("asker", "is_refused"), [("admin", True), ("admin by token", False)])
def test_rest_says_that_it_is_missing_to_sessions_alone(world: World, asker: str, is_refused: bool) -> None:
    path = f"/api/v1/resends/{world.rows['consumers.resend']}/cancel/"
    with world.undone():
        answer = Site().answer(world.askers[asker].request("POST", path), csrf=True)
    assert (SENTENCE in answer.content) is is_refused  # type: ignore[attr-defined]


def test_nobody_is_not_asked_for_it_before_a_login(world: World) -> None:
    """REST asks who it is first."""
    answer = Site().answer(world.askers["nobody"].request("POST", "/api/v1/resets/"), csrf=True)
    assert answer.status_code == 401
