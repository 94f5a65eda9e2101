"""Static files are found once a process. Each client of a test has middleware of its own, which would look through all
folders, and build an answer for each of two hundred files, before its first request.
"""

from collections.abc import Callable, Iterator

import pytest
from django.conf import settings
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import Redirect, StaticFile

# What decides which files are found, and with which headers they are sent.
DECIDING = (
    "DEBUG",
    "FORCE_SCRIPT_NAME",
    "INSTALLED_APPS",
    "STATICFILES_DIRS",
    "STATICFILES_FINDERS",
    "STATIC_URL",
    "STORAGES",
    "WHITENOISE_ADD_HEADERS_FUNCTION",
    "WHITENOISE_ALLOW_ALL_ORIGINS",
    "WHITENOISE_CHARSET",
    "WHITENOISE_IMMUTABLE_FILE_TEST",
    "WHITENOISE_INDEX_FILE",
    "WHITENOISE_MAX_AGE",
    "WHITENOISE_MIMETYPES",
    "WHITENOISE_STATIC_PREFIX",
)
Look = Callable[[WhiteNoiseMiddleware], None]


@pytest.fixture(autouse=True, scope="session")
def _static_files_found_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        look: Look = WhiteNoiseMiddleware.add_files_from_finders
        patch.setattr(WhiteNoiseMiddleware, "add_files_from_finders", found_once(look))
        yield


def found_once(look: Look) -> Look:
    """Under other settings than before it looks again."""
    found: dict[str, dict[str, StaticFile | Redirect]] = {}

    def add_files_from_finders(self: WhiteNoiseMiddleware) -> None:
        key = repr([getattr(settings, name, None) for name in DECIDING])
        if key not in found:
            before, self.files = self.files, {}
            look(self)
            found[key], self.files = self.files, before
        self.files.update(found[key])

    return add_files_from_finders
