"""What a chart draws, as a table, as CSV and as a picture."""

import csv
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Site
from tests.browser.waiting import wait_until

pytestmark = pytest.mark.usefixtures("shop")
GROUP = "/groups/prod-a/inventory/"


def opened(page: Page, chart: str) -> Locator:
    page.wait_for_selector(f"#{chart} .main-svg")
    found = page.locator(f"#{chart}-data")
    found.locator("summary").click()
    expect(found.locator("tbody tr").nth(1)).to_be_attached()
    return found


def saved(page: Page, data: Locator, name: str) -> Path:
    with page.expect_download() as download:
        data.get_by_role("button", name=name).click()
    return download.value.path()


def test_a_table_has_what_the_lines_draw_and_why_a_value_is_unknown(site: Site) -> None:
    data = opened(site.open(GROUP), "lag-chart")
    expect(data.locator("thead th").first).to_have_text("Time (UTC)")
    drawn = site.page.evaluate("document.getElementById('lag-chart').data[0].y")
    cells = data.locator("tbody tr td:nth-child(2)").all_text_contents()
    known = {int(text.replace(",", "")) for text in cells if text not in ("", "unknown")}
    assert known == {value for value in drawn if value is not None}
    unknown = data.locator("tbody abbr").first
    expect(unknown).to_have_text("unknown")
    assert unknown.get_attribute("title")
    assert site.objections == []


def test_each_queue_of_a_heatmap_is_a_column(site: Site) -> None:
    data = opened(site.open(GROUP), "queues-chart")
    names = site.page.evaluate("document.getElementById('queues-chart').data[0].names")
    assert data.locator("thead th").all_text_contents()[1:] == names
    assert data.locator("tbody abbr").first.get_attribute("title")


def test_csv_says_what_is_unknown_and_why(site: Site) -> None:
    page = site.open(GROUP)
    path = saved(page, opened(page, "lag-chart"), "Save as CSV")
    with path.open(encoding="utf-8-sig", newline="") as file:
        head, *rows = list(csv.reader(file))
    assert (head[0], head[-1]) == ("Time (UTC)", "unknown")
    gaps = [row for row in rows if not any(row[1:-1])]
    assert gaps
    assert all(row[-1].startswith(f"{head[1]}: ") for row in gaps)
    assert not any(row[-1] for row in rows if row[1])


def test_a_chart_is_saved_as_a_picture(site: Site) -> None:
    page = site.open(GROUP)
    path = saved(page, opened(page, "lag-chart"), "Save as PNG")
    assert path.read_bytes().startswith(b"\x89PNG")
    assert site.objections == []


def test_an_open_table_follows_the_chart(site: Site) -> None:
    data = opened(site.open(GROUP), "lag-chart")
    count = data.locator("tbody tr").count()
    site.page.evaluate("document.querySelector('#lag-chart-data tbody').replaceChildren()")
    site.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    wait_until(site.page, f"document.querySelectorAll('#lag-chart-data tbody tr').length === {count}")
