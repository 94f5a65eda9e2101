"""What a text for a service has to be cut to, what its answer means, and how the process tells what went. Pure."""

import json
from collections.abc import Sequence
from typing import Any

# The process prints this line for each notice that was taken.
SENT = "sent"
# Hosts that answer 200 to what they refuse, and say so in the answer; Apprise (2.2.0) looks at the 200 alone.
TELL_INSIDE = ("oapi.dingtalk.com", "qyapi.weixin.qq.com", "open.feishu.cn", "open.larksuite.com")


def fitting(texts: Sequence[dict[str, str]], longest: int, longest_title: int) -> dict[str, str]:
    """The first of `texts` (each names fewer changes) whose body the service takes; else the last, cut.

    `longest`: what a body may have, counted in bytes: some services count those, and none counts less. A service
    without titles (`longest_title` 0) has the title as the first line of the body.
    """
    for text in texts:
        if _room(text, longest, longest_title) >= len(text["body"].encode()):
            return text
    last = texts[-1]
    return {**last, "body": cut(last["body"], _room(last, longest, longest_title))}


def _room(text: dict[str, Any], longest: int, longest_title: int) -> int:
    return longest if longest_title > 0 else longest - len(text["title"].encode()) - len("\r\n")


def cut(text: str, most: int) -> str:
    """At most so many bytes, whole characters, and a sign that more was there."""
    sign = "…".encode()
    held = text.encode()
    return text if len(held) <= most else held[: max(most - len(sign), 0)].decode(errors="ignore") + sign.decode()


def refusal(answer: str) -> str | None:
    """Why the answer of one of TELL_INSIDE is no consent, or None: `errcode` (DingTalk, WeCom) or `code` is not 0."""
    try:
        said = json.loads(answer)
    except ValueError:
        return None
    if not isinstance(said, dict):
        return None
    code = said.get("errcode", said.get("code", 0))
    return f"The service refused it: {code} {said.get('errmsg', said.get('msg', ''))}".strip() if code else None
