from collections.abc import Iterator
from typing import Any

import pytest

from tests.oidc_provider import OidcProvider, an_oidc_provider, configure


@pytest.fixture
def provider(settings: Any) -> Iterator[OidcProvider]:
    """One that the site is set up for."""
    with an_oidc_provider() as provider:
        configure(settings, provider)
        yield provider
