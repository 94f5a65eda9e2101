"""How the environment is read."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from dashboard.settings import environment
from dashboard.settings.environment import Variable, folders, number, section, words


@pytest.fixture(autouse=True)
def sections(monkeypatch: pytest.MonkeyPatch) -> dict[str, environment.Section]:
    """A reference of its own: that of the site stays as it is."""
    found: dict[str, environment.Section] = {}
    monkeypatch.setattr(environment, "SECTIONS", found)
    monkeypatch.setattr(environment, "_open", None)
    section("Tests")
    return found


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
    assert words("SOME_WORDS", "a,b", "Some words.") == found


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (None, ["/data", "/data/ann/store"]),
        ("/a:/b c", ["/a", "/b c"]),
        ("~/x:~nobody-is-called-so/y", ["/data/ann/x"]),
    ],
)
def test_folders_are_separated_as_in_path(monkeypatch: pytest.MonkeyPatch, value: str | None, found: list[str]) -> None:
    monkeypatch.setenv("HOME", "/data/ann")
    monkeypatch.delenv("SOME_FOLDERS", raising=False)
    if value is not None:
        monkeypatch.setenv("SOME_FOLDERS", value)
    assert folders("SOME_FOLDERS", "/data:~/store", "Some folders.", shown="`/data`") == found


def test_a_folder_that_does_not_begin_at_the_root_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_FOLDERS", "/a:data")
    with pytest.raises(ImproperlyConfigured, match="not 'data'"):
        folders("SOME_FOLDERS", "", "Some folders.", shown="none")


@pytest.mark.parametrize(("value", "found"), [(None, 90.0), ("7", 7.0)])
def test_the_reference_gives_the_default_whatever_is_set(
    monkeypatch: pytest.MonkeyPatch, sections: dict[str, environment.Section], value: str | None, found: float
) -> None:
    monkeypatch.delenv("SOME_DAYS", raising=False)
    if value is not None:
        monkeypatch.setenv("SOME_DAYS", value)
    assert number("SOME_DAYS", 90, "Some days.") == found
    assert sections["Tests"].variables == {"SOME_DAYS": Variable("SOME_DAYS", "90", "Some days.")}
