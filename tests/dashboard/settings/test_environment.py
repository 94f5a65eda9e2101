"""How the environment is read."""

import pytest

from dashboard.settings.environment import words


@pytest.mark.parametrize(
    ("value", "found"),
    [(None, ["a", "b"]), ("", ["a", "b"]), ("c", ["c"]), (" c , ,d ", ["c", "d"])],
)
def test_an_empty_list_means_its_default_as_with_every_other_variable(
    monkeypatch: pytest.MonkeyPatch, value: str | None, found: list[str]
) -> None:
    monkeypatch.delenv("SOME_WORDS", raising=False)
    if value is not None:
        monkeypatch.setenv("SOME_WORDS", value)
    assert words("SOME_WORDS", "a,b") == found
