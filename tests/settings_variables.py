"""The variables that the settings read, found in the calls that read them."""

import re
from pathlib import Path

from django.conf import settings

ROOT = Path(__file__).resolve().parents[1]
SOURCE = "".join(path.read_text() for path in (ROOT / "dashboard" / "settings").glob("*.py"))


def settings_variables() -> set[str]:
    read = re.findall(r'(?:number|flag|words|networks|folders|environ\.get)\(\s*"([A-Z_]+)"', SOURCE)
    judging = {f"CONSUMERSCOPE_{name.upper()}" for name in settings.JUDGE}
    return set(read) | judging
