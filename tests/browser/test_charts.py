import pytest
from playwright.sync_api import Page, expect

from consumers.models import ConsumerGroup, StateChange
from tests.browser.conftest import Site
from tests.browser.waiting import wait_until
from tests.world import ago

pytestmark = pytest.mark.usefixtures("shop")
GROUP = "/groups/prod-a/inventory/"


def drawn(page: Page, chart: str, part: str) -> int:
    page.wait_for_selector(f"#{chart} .main-svg")
    return page.locator(f"#{chart} {part}").count()


def test_the_line_is_broken_where_lag_was_unknown(site: Site) -> None:
    page = site.open(GROUP)
    assert drawn(page, "lag-chart", ".scatterlayer path.js-line") == 2


def test_the_gap_is_hatched_in_both_charts(site: Site) -> None:
    page = site.open(GROUP)
    assert drawn(page, "lag-chart", "pattern") >= 1
    assert drawn(page, "queues-chart", "pattern") >= 1


def test_the_change_of_state_stands_on_both_time_axes(site: Site) -> None:
    page = site.open(GROUP)
    for chart in ("lag-chart", "queues-chart"):
        assert drawn(page, chart, ".annotation-text >> text=STALL") == 1


@pytest.mark.parametrize("width", [1440, 390])
def test_states_that_change_close_to_each_other_are_not_written_upon_each_other(site: Site, width: int) -> None:
    group = ConsumerGroup.objects.get(name="inventory")
    for minutes, state in ((8, "OK"), (9, "WARN"), (30, "STALL"), (31, "OK")):
        StateChange.objects.create(group=group, at=ago(60 * minutes), before="OK", after=state)
    site.page.set_viewport_size({"width": width, "height": 900})
    page = site.open(GROUP)
    page.wait_for_selector("#lag-chart .main-svg")
    shown = "[...document.querySelectorAll('#lag-chart .annotation')].filter((one) => one.style.opacity != 0)"
    boxes = f"{shown}.map((one) => one.getBoundingClientRect()).sort((one, other) => one.left - other.left)"
    wait_until(page, f"{boxes}.length >= 2 && {boxes}.every((box, i, all) => !i || all[i - 1].right <= box.left)")
    drawn = page.locator("#lag-chart .annotation")
    assert page.evaluate(f"{shown}.length") < drawn.count()


def test_both_charts_share_their_time_axis(site: Site) -> None:
    page = site.open(GROUP)
    page.wait_for_selector("#queues-chart .main-svg")
    size = "(({l, w}) => [l, w])(document.getElementById('%s')._fullLayout._size)"
    assert page.evaluate(size % "lag-chart") == page.evaluate(size % "queues-chart")


def test_plotly_is_loaded_on_no_page_without_a_chart(site: Site) -> None:
    loaded: list[str] = []
    site.page.on("request", lambda request: loaded.append(request.url))
    for path in ("/findings/", "/groups/", "/clusters/"):
        site.open(path)
    assert not [url for url in loaded if "plotly" in url]


def test_a_refresh_keeps_the_chart_and_its_zoom(site: Site) -> None:
    page = site.open(GROUP)
    page.wait_for_selector("#lag-chart .main-svg")
    box = page.locator("#lag-chart .nsewdrag").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 300, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + 500, box["y"] + 55, steps=5)
    page.mouse.up()
    shown = "document.getElementById('lag-chart').layout.xaxis.range"
    wait_until(page, f"!{shown}[0].startsWith('2026-03-14 02:00:00')")
    zoomed = page.evaluate(shown)
    with page.expect_response("**/figures/prod-a/inventory/lag/**"):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(200)
    assert page.evaluate(shown) == zoomed


def test_a_figure_that_cannot_be_loaded_says_so(site: Site) -> None:
    site.context.route("**/figures/**", lambda route: route.abort())
    page = site.open(GROUP)
    wait_until(page, "document.getElementById('lag-chart-note').textContent.includes('Could not load this chart')")


@pytest.mark.parametrize("site", [{"color_scheme": "dark"}], indirect=True)
def test_figures_take_the_colours_of_the_theme(site: Site) -> None:
    page = site.open(GROUP)
    page.wait_for_selector("#lag-chart .main-svg")
    assert page.evaluate("document.getElementById('lag-chart').layout.paper_bgcolor") == "rgb(21, 24, 28)"


def test_a_log_scale_is_chosen_for_all_charts_of_lag_and_outlives_refreshes_and_the_page(site: Site) -> None:
    page = site.open(GROUP)
    page.wait_for_selector("#time-lag-chart .main-svg")
    switch = page.get_by_role("button", name="Log scale").first
    switch.click()
    ticks = "document.getElementById('%s').layout.yaxis.ticktext"
    for chart in ("lag-chart", "time-lag-chart"):
        wait_until(page, f"{ticks % chart}?.[0].startsWith('0')")
    assert page.evaluate(ticks % "rates-chart") is None
    with page.expect_response("**/figures/prod-a/inventory/lag/*scale=log"):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.locator(".bar .choices a").first.click()
    page.wait_for_selector("#lag-chart .main-svg")
    expect(page.get_by_role("button", name="Log scale").first).to_have_attribute("aria-pressed", "true")
    assert page.evaluate(ticks % "lag-chart")[0] == "0"
    page.get_by_role("button", name="Log scale").first.click()
    wait_until(page, f"!({ticks % 'lag-chart'})")
    assert "scale" not in page.url
    assert site.objections == []


def test_a_table_beside_a_log_scale_has_the_true_values(site: Site) -> None:
    page = site.open(f"{GROUP}?scale=log")
    page.wait_for_selector("#lag-chart .main-svg")
    page.locator("#lag-chart-data summary").click()
    values = page.evaluate("document.getElementById('lag-chart').data[0].values")
    page.wait_for_selector("#lag-chart-data tbody td")
    cells = page.locator("#lag-chart-data tbody td:nth-child(2)").all_text_contents()
    known = [int(text.replace(",", "")) for text in cells if text not in ("", "unknown")]
    assert sorted(known) == sorted(value for value in values if value is not None)
