"""Values as cells of CSV (RFC 4180). Null is an empty cell without quotes; an empty text has quotes.

A spreadsheet runs a cell that begins as a formula: such texts begin with an apostrophe.
"""

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

# The last four as full-width characters, which some spreadsheets take for the same.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
LINE_END = "\r\n"
CONTENT_TYPE = "text/csv; charset=utf-8; header=present"


def line_of(cells: Iterable[str]) -> str:
    return ",".join(cells) + LINE_END


def cell(value: Any, *, is_safe: bool = False) -> str:
    """`is_safe`: a text that is no formula, whatever it begins with."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, (dict, list)):
        value = json.dumps(value, ensure_ascii=False)
    if isinstance(value, str):
        return _quoted(value if is_safe or not value.startswith(FORMULA) else f"'{value}")
    return str(value)


def text_of(stored: str) -> str:
    """A text as it was before `cell` kept it from being a formula."""
    return stored[1:] if stored.startswith("'") and stored[1:].startswith(FORMULA) else stored


def _quoted(text: str) -> str:
    if text and not any(mark in text for mark in ',"\r\n'):
        return text
    return '"' + text.replace('"', '""') + '"'
