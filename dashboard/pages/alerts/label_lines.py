"""Labels as people type them: `team=payments`, one on each line or with commas between."""

import re
from collections.abc import Mapping

from django.utils.translation import gettext as _

BETWEEN = re.compile(r"[,\n]")


class WrongLabels(ValueError):
    """str() is one sentence for the reader."""


def labels_of(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in BETWEEN.split(text))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not name or not value:
            raise WrongLabels(_("“%s” is no label: write team=payments, one on each line.") % part)
        if found.get(name, value) != value:
            raise WrongLabels(_("The label %s stands there twice, with different values.") % name)
        found[name] = value
    return found


def lines_of_labels(labels: Mapping[str, str]) -> str:
    return "\n".join(f"{name}={value}" for name, value in sorted(labels.items()))
