"""What may be said of a channel, checked without connecting anywhere."""

from collections.abc import Mapping
from typing import Any

from consumers.models import Channel


class ChannelRefused(Exception):
    """`errors`: {field: sentence}. Nothing was changed."""

    def __init__(self, errors: dict[str, str]) -> None:
        super().__init__(" ".join(errors.values()))
        self.errors = errors


def checked_channel(fields: Mapping[str, Any], channel: Channel | None = None) -> dict[str, Any]:
    """The columns of a row, `sealed` and `target` among them, and `rules` (a list of AlertRule): for `saved`.

    `fields`: name, kind, enabled, severities [str], cluster, group_pattern, labels {str: str}, rules [id],
    title_template, body_template, tells_resolved; and by kind
    webhook: url, secret, headers {name: value} · alertmanager: url, username and password, or token ·
    email: recipients [address] · apprise: url (of one service).
    A field that is absent stays as it is in `channel`, or has its default; the kind of a channel never changes.
    Raises ChannelRefused.
    """
    raise NotImplementedError
