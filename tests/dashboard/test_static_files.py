import re
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.test import Client

from dashboard.figures.plotly_files import PATH

ROOT = Path(__file__).resolve().parents[2]
SHEETS = sorted((ROOT / "static/css").glob("*.css"))
SCRIPTS = sorted((ROOT / "static/js").glob("*.js"))
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))


@pytest.mark.django_db
def test_plotly_is_served_out_of_its_package_and_cached_for_ever(client: Client) -> None:
    response = client.get(f"/static/{PATH}")
    assert response.status_code == 200
    assert "immutable" in response.headers["Cache-Control"]
    assert response.headers["Content-Type"].startswith("text/javascript")
    response.close()


def test_only_the_one_file_of_the_plotly_package_is_served() -> None:
    assert finders.find(PATH)
    assert not finders.find("plotly/widgetbundle.js")
    assert not finders.find(PATH.replace("plotly.min", "widgetbundle"))


@pytest.mark.django_db
def test_our_own_files_are_not_cached_for_ever(client: Client) -> None:
    response = client.get("/static/css/frame.css")
    assert "immutable" not in response.headers["Cache-Control"]
    response.close()


@pytest.mark.parametrize("sheet", [sheet for sheet in SHEETS if sheet.name != "variables.css"], ids=lambda p: p.name)
def test_colours_stand_in_one_sheet_only(sheet: Path) -> None:
    values = re.findall(r":\s*([^;{}]+);", sheet.read_text())
    assert not [value for value in values if re.search(r"#[0-9a-f]{3,8}\b|rgb|hsl|\b(white|black|red|green)\b", value)]


def test_every_colour_that_is_used_is_declared() -> None:
    declared = set(re.findall(r"^\s*(--[\w-]+):", (ROOT / "static/css/variables.css").read_text(), re.M))
    sources = [*SHEETS, *(ROOT / "dashboard").rglob("*.py")]
    used = {name for path in sources for name in re.findall(r"var\((--[\w-]+)\)", path.read_text())}
    assert used <= declared


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.name)
def test_a_script_is_short_and_evaluates_no_text(script: Path) -> None:
    text = script.read_text()
    assert text.count("\n") <= 120
    assert not re.search(r"\beval\(|new Function|innerHTML|document\.write", text)


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda p: str(p.relative_to(ROOT / "templates")))
def test_a_template_is_short_and_has_no_inline_style(template: Path) -> None:
    text = template.read_text()
    assert text.count("\n") <= 120
    assert not re.search(r"\sstyle=|<style|\son\w+=", text)


def _colours(theme: int) -> dict[str, str]:
    found = re.findall(r"(--[\w-]+): light-dark\((#\w+), (#\w+)\)", (ROOT / "static/css/variables.css").read_text())
    return {name: pair[theme] for name, *pair in found}


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


TEXT = ["--ink", "--ink-quiet", "--link", *(name for name in _colours(0) if name.startswith("--state-"))]


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("paper", ["--paper", "--paper-rail", "--paper-hover", "--paper-chosen"])
@pytest.mark.parametrize("name", TEXT)
def test_text_has_enough_contrast_on_every_ground(name: str, paper: str, theme: int) -> None:
    colours = _colours(theme)
    assert contrast(colours[name], colours[paper]) >= 4.5


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("name", ["--control", "--focus", "--line"])
def test_controls_and_lines_stand_out_from_the_page(name: str, theme: int) -> None:
    colours = _colours(theme)
    assert contrast(colours[name], colours["--paper"]) >= 3
