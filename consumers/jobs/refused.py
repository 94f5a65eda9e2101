"""A refused request: REST answers it as a problem, pages show its sentence."""

from collections.abc import Mapping, Sequence


class ActRefused(Exception):
    """str() is one sentence or more: why, and what to do. Nothing was changed.

    `errors`: by field what is wrong with it; none, or the field "", where it is refused as things stand.
    """

    errors: Mapping[str, str | Sequence[str]] = {}
