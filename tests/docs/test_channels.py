"""What the docs say of channels is so."""

import re
from pathlib import Path
from typing import Any

import pytest
import time_machine

from consumers.alerts.channels.kinds.apprise import ALLOWED
from consumers.alerts.channels.kinds.channel_kind import ChannelKindSpec
from consumers.alerts.channels.kinds.webhook import signature
from consumers.alerts.channels.receiver import CHANNEL_KINDS
from consumers.alerts.channels.templates import FILTERS, TAGS, rendered

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "channels.md").read_text()
SECRET, BODY, STAMP = "canary-secret-0123456789", b'{"version": 1}', 1_773_457_200


def verify(headers: dict[str, str], body: bytes) -> bool:
    """By the lines that receivers are shown."""
    [code] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    with time_machine.travel(STAMP + 1):
        return bool(names["is_from_consumerscope"](SECRET, headers, body))


@pytest.mark.parametrize(
    ("stamp", "body", "believed"),
    [(STAMP, BODY, True), (STAMP, b'{"version": 2}', False), (STAMP - 301, BODY, False)],
)
def test_the_lines_that_verify_a_signature_do_so(stamp: int, body: bytes, believed: bool) -> None:
    signed = signature(SECRET, str(stamp), BODY)
    headers = {"Consumerscope-Timestamp": str(stamp), "Consumerscope-Signature": signed}
    assert verify(headers, body) == believed


def test_every_service_that_is_allowed_is_named() -> None:
    said = set(re.findall(r"`([a-z0-9]+)(?:\(s\))?(?:://[^`]*)?`", PAGE))
    other_names = {"webex", "workflow", "zcliq", "zohocliq", "victorops"}
    with_or_without_tls = said | {f"{name}s" for name in said} | {name.removesuffix("s") for name in said}
    assert ALLOWED - other_names - with_or_without_tls == set()


def test_the_words_of_templates_are_named() -> None:
    assert {word for word in (*TAGS, *FILTERS) if f"`{word}`" not in PAGE} == set()


def test_the_template_that_is_shown_can_be_filled() -> None:
    [template] = re.findall(r"```\n(\{\{ rule.*?)```", PAGE, re.DOTALL)
    assert rendered(template, {"rule": {"name": "Stalled"}, "firing": 1, "resolved": 0}).startswith("Stalled: 1 firing")


@pytest.mark.parametrize("kind", CHANNEL_KINDS.values(), ids=lambda kind: kind.code)
def test_every_field_of_a_kind_is_named_in_a_section_of_its_own(kind: ChannelKindSpec) -> None:
    sections = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
    named = [{field.name for field in kind.fields if f"`{field.name}`" in section} for section in sections]
    assert {field.name for field in kind.fields} in named
