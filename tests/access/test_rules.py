"""How the tables are read."""

import pytest

from tests.access.rules import rule_for, rules

TEXT = """
| role | may |
|---|---|
| viewer | look |

| addresses | methods | nobody | viewer |
|---|---|---|---|
| `/groups/*/act/` | POST | login | 302, 409 |
| `/groups/**`, `/` | GET, HEAD | login | 200 |
| `/**` | any other | 405 | 405 |
"""
COLUMNS = frozenset({"nobody", "viewer"})


@pytest.mark.parametrize(
    ("route", "method", "nobody", "viewer"),
    [
        ("/", "GET", {"login"}, {"200"}),
        ("/groups/<str:group>/act/", "POST", {"login"}, {"302", "409"}),
        ("/groups/<str:group>/act/", "GET", {"login"}, {"200"}),
        ("/groups/<str:group>/<int:queue>/act/", "POST", {"405"}, {"405"}),
        ("/groups/", "HEAD", {"login"}, {"200"}),
        ("/clusters/", "GET", {"405"}, {"405"}),
    ],
)
def test_the_first_row_that_names_an_address_and_a_method_decides(
    route: str, method: str, nobody: set[str], viewer: set[str]
) -> None:
    rule = rule_for(rules(TEXT), route, method, COLUMNS)
    assert rule is not None
    assert rule.answers == {"nobody": nobody, "viewer": viewer}


def test_what_no_row_names_has_no_rule() -> None:
    assert rule_for(rules(TEXT.replace("`/**`", "`/x/`")), "/clusters/", "GET", COLUMNS) is None


def test_a_table_with_other_columns_is_not_asked() -> None:
    assert rule_for(rules(TEXT), "/", "GET", COLUMNS | {"operator"}) is None


def test_a_row_without_all_columns_is_not_read() -> None:
    with pytest.raises(ValueError, match="zip"):
        rules(TEXT.replace("| login | 200 |", "| login |"))
