import base64
import hashlib
import re

import pytest
from django.test import Client

from dashboard.figures.plotly_files import FOLDER
from dashboard.pages.common.frame import EMPTY_SHEET, MAP_SHEET
from tests.world import a_cluster, a_group

pytestmark = pytest.mark.django_db


def sha256_source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def policy(client: Client, address: str) -> dict[str, str]:
    header = client.get(address).headers["Content-Security-Policy"]
    return dict(part.strip().partition(" ")[::2] for part in header.split(";"))


@pytest.mark.parametrize(
    "address", ["/login/", "/findings/", "/groups/", "/clusters/", "/patterns/", "/no/such/page/", "/alerts/"]
)
def test_a_page_without_a_chart_has_the_strict_policy(admin_client: Client, address: str) -> None:
    found = policy(admin_client, address)
    assert found["default-src"] == "'none'"
    assert found["script-src"] == found["style-src"] == "'self'"
    assert "unsafe" not in " ".join(found.values())


def test_a_page_with_a_chart_adds_only_what_plotly_needs(admin_client: Client) -> None:
    a_group(a_cluster(), "billing")
    found = policy(admin_client, "/groups/prod/billing/")
    assert found["script-src"] == "'self'"
    assert found["style-src-attr"] == "'unsafe-inline'"
    assert found["style-src-elem"] == f"'self' {EMPTY_SHEET} {MAP_SHEET}"
    assert found["img-src"] == "'self' data: blob:"


def test_the_hash_of_the_map_sheet_is_that_of_the_installed_plotly() -> None:
    sheets = re.findall(r"\.textContent='(\.maplibregl[^']*)'", (FOLDER / "plotly.min.js").read_text())
    assert [sha256_source(sheet) for sheet in sheets] == [MAP_SHEET]


def test_the_hash_of_the_sheet_that_begins_empty_is_that_of_no_text() -> None:
    assert sha256_source("") == EMPTY_SHEET


@pytest.mark.parametrize("address", ["/login/", "/", "/groups/", "/clusters/", "/patterns/", "/groups/prod/billing/",
                                     "/alerts/", "/alerts/silences/", "/alerts/channels/add/?kind=email"])  # fmt: skip
def test_no_page_has_inline_script_style_or_handler(admin_client: Client, address: str) -> None:
    a_group(a_cluster(), "billing")
    text = (Client() if address == "/login/" else admin_client).get(address).text
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=|javascript:", text)
