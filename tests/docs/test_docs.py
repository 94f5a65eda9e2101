"""What the docs name exists, and what exists is named."""

import re
from pathlib import Path

import pytest

from consumers.vocabulary.states import State
from tests.settings_variables import reference, settings_variables

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]


def make_targets() -> set[str]:
    lines = (ROOT / "Makefile").read_text().splitlines()
    targets = [line.split(":")[0].split() for line in lines if re.match(r"^[a-z][a-z -]*:(?!=)", line)]
    return {name for names in targets for name in names}


def test_every_make_target_is_in_the_readme_and_every_one_there_exists() -> None:
    named = set(re.findall(r"\bmake ([a-z][a-z-]*)\b(?=`| NAMESRV|$)", (ROOT / "README.md").read_text(), re.MULTILINE))
    assert named == make_targets()


def test_every_make_target_explains_itself() -> None:
    helped = re.findall(r"^([a-z][a-z -]*):.* ## ", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {name for names in helped for name in names.split()} == make_targets()


def test_the_reference_of_variables_is_that_of_the_settings() -> None:
    """`python -m tests.settings_variables` writes it."""
    assert (ROOT / "docs" / "configuration.md").read_text() == reference()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_names_only_variables_that_are_read(page: Path) -> None:
    assert set(re.findall(r"CONSUMERSCOPE_[A-Z_]+[A-Z]", page.read_text())) <= settings_variables()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_link_inside_the_project_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), target


def anchors(page: Path) -> set[str]:
    """As code hosts make them of headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_link_to_a_heading_finds_it(page: Path) -> None:
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#([^)]+)\)", page.read_text()):
        assert anchor in anchors(page.parent / target if target else page), f"{target}#{anchor}"


def test_the_glossary_has_every_state_in_the_order_of_how_bad_it_is() -> None:
    named = re.findall(r"^\| ([A-Z]+) \|", (ROOT / "docs" / "glossary.md").read_text(), re.MULTILINE)
    assert named == list(State)


def test_every_command_is_in_the_readme() -> None:
    folders = [ROOT / room / "management" / "commands" for room in ("consumers", "dashboard")]
    commands = {path.stem for folder in folders for path in folder.glob("[a-z]*.py")}
    named = set(re.findall(r"^\| `([a-z]+) ", (ROOT / "README.md").read_text(), re.MULTILINE))
    assert named - {"make"} == commands
