"""What a page of alerts shows, as it is read: without what stands on hover."""

import re
from html import unescape
from typing import Any

TAG = re.compile(r"<[^>]*>")


def shown(answer: Any) -> str:
    return " ".join(unescape(TAG.sub("", answer.text)).split())
