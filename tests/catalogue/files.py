"""Where the catalogue lies."""

from .extracted import ROOT

FOLDER = ROOT / "dashboard" / "locale" / "zh_Hans" / "LC_MESSAGES"
PO, MO = FOLDER / "django.po", FOLDER / "django.mo"
