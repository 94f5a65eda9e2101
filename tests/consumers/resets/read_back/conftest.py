"""Brokers and a clock as resets are applied with, and the patience of a site as it comes."""

from typing import Any

import pytest

from tests.consumers.resets.applying.conftest import Site, clock, site as hasty_site

__all__ = ["clock", "hasty_site"]


@pytest.fixture
def site(hasty_site: Site, settings: Any) -> Site:
    settings.RESET_SETTLED_SECONDS, settings.RESET_READ_BACK_SECONDS = 12, 60
    return hasty_site
