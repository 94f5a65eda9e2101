"""Every address with every method, asked by everybody, is answered as docs/access.md says."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.http.response import HttpResponseBase

from tests.access.addresses import Address, every_address
from tests.access.conftest import ROLES, Site, World
from tests.access.rules import METHODS, PAGE, rule_for, rules

RULES = rules(PAGE.read_text())
ADDRESSES = every_address()
# What knows tokens.
REST = ("/api/", "/metrics")
PARTS = {
    "admin-auth": ("/admin/auth/", "/admin/admin/"),
    "admin-consumers-a-g": tuple(f"/admin/consumers/{letter}" for letter in "abcdefg"),
    "admin-consumers-h-z": tuple(f"/admin/consumers/{letter}" for letter in "hijklmnopqrstuvwxyz"),
    "admin": ("/admin/",),
    "rest": REST,
    "site": ("/",),
}


@pytest.fixture(autouse=True)
def _refusals_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    """There are thousands; an error of the site still is."""
    caplog.set_level("ERROR", "django.request")


def part_of(address: Address) -> str:
    return next(name for name, starts in PARTS.items() if address.route.startswith(starts))


def columns_of(address: Address) -> dict[str, list[str]]:
    """Who asks, by the column that tells what they are answered."""
    if address.route.startswith("/admin/"):
        staff = {role: [f"{role}, staff"] for role in ROLES}
        return {"nobody": ["nobody"], "without staff": ["operator"], **staff}
    if address.route.startswith(REST):
        return {"nobody": ["nobody", "expired token"], **{role: [role, f"{role} by token"] for role in ROLES}}
    return {"nobody": ["nobody", "expired token", "admin by token"], **{role: [role] for role in ROLES}}


def asking(columns: dict[str, list[str]], method: str) -> Iterator[tuple[str, str]]:
    """HEAD is answered by what answers GET: it is enough that those ask who may the least."""
    for column, askers in columns.items():
        if method != "HEAD" or column in ("nobody", "viewer"):
            yield from ((column, name) for name in askers)


def in_words(answer: HttpResponseBase) -> str:
    if answer.status_code == 302:
        to = answer.headers["Location"]
        logins = {"/login/?next=": "login", "/admin/login/?next=": "admin login"}
        return next((word for start, word in logins.items() if to.startswith(start)), "302")
    return str(answer.status_code)


def wrong_answers(world: World, site: Site, address: Address) -> Iterator[str]:
    path, columns = world.path_of(address), columns_of(address)
    for method in METHODS:
        rule = rule_for(RULES, address.route, method, frozenset(columns))
        if rule is None:
            yield f"{method} {address.route}: no row says what it is answered"
            continue
        for column, name in asking(columns, method):
            with world.undone():
                said = in_words(site.answer(world.askers[name].request(method, path)))
            if said not in rule.answers[column]:
                yield f"{method} {path} by {name}: {said}, not {', '.join(sorted(rule.answers[column]))}"


def _parts() -> Iterator[Any]:
    """Pages and resources are asked on PostgreSQL by the walk; those of the admin only here."""
    for part in PARTS:
        is_walked = not part.startswith("admin")
        marks = [pytest.mark.either_database("tests/walk asks for every page and resource")] if is_walked else []
        yield pytest.param(part, marks=marks)


@pytest.mark.parametrize("part", list(_parts()))
def test_every_address_answers_everybody_as_is_written(world: World, part: str) -> None:
    site = Site()
    found = (address for address in ADDRESSES if part_of(address) == part)
    wrong = [line for address in found for line in wrong_answers(world, site, address)]
    assert not wrong, "\n".join(wrong)


def test_every_row_is_about_an_address_that_there_is() -> None:
    idle = [
        f"{sorted(rule.methods)} {rule.address}"
        for rule in RULES
        if not any(rule.covers(address.route, method) for address in ADDRESSES for method in rule.methods)
    ]
    assert not idle
