"""Passwords of tests are hashed as the site hashes them, in one round: a million of them take longer than a page."""

from collections.abc import Iterator

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher


@pytest.fixture(autouse=True, scope="session")
def _passwords_in_one_round() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PBKDF2PasswordHasher, "iterations", 1)
        yield
