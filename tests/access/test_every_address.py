"""Every address with every method, asked by everybody, is answered as docs/access.md says."""

from collections.abc import Iterator

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
    columns = columns_of(address)
    for method in METHODS:
        if rule_for(RULES, address.route, method, frozenset(columns)) is None:
            yield f"{method} {address.route}: no row says what it is answered"
            continue
        for asker in asking(columns, method):
            if line := wrong_answer(world, site, address, method, asker):
                yield line


def wrong_answer(world: World, site: Site, address: Address, method: str, asker: tuple[str, str]) -> str | None:
    """`asker`: the column of who asks, and who that is."""
    path, (column, name) = world.path_of(address), asker
    rule = rule_for(RULES, address.route, method, frozenset(columns_of(address)))
    assert rule is not None
    with world.undone():
        said = in_words(site.answer(world.askers[name].request(method, path)))
    if said in rule.answers[column]:
        return None
    return f"{method} {path} by {name}: {said}, not {', '.join(sorted(rule.answers[column]))}"


@pytest.mark.either_database("tests/walk asks for every page and resource, a test below for the pages of the admin")
@pytest.mark.parametrize("part", PARTS)
def test_every_address_answers_everybody_as_is_written(world: World, part: str) -> None:
    site = Site()
    found = (address for address in ADDRESSES if part_of(address) == part)
    wrong = [line for address in found for line in wrong_answers(world, site, address)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.postgres
def test_every_admin_page_answers_an_admin_as_is_written(world: World) -> None:
    """With PostgreSQL, the one who may the most; who else may what does not depend on the database."""
    site = Site()
    found = [address for address in ADDRESSES if address.route.startswith("/admin/")]
    assert len(found) > 200
    wrong = [
        line
        for address in found
        for method in ("GET", "POST")
        if (line := wrong_answer(world, site, address, method, ("admin", "admin, staff")))
    ]
    assert not wrong, "\n".join(wrong)


def test_every_row_is_about_an_address_that_there_is() -> None:
    idle = [
        f"{sorted(rule.methods)} {rule.address}"
        for rule in RULES
        if not any(rule.covers(address.route, method) for address in ADDRESSES for method in rule.methods)
    ]
    assert not idle
