"""Property tests on a machine that does other things too: an example that takes long there is no failure."""

from hypothesis import settings

settings.register_profile("shared_machine", deadline=None)
settings.load_profile("shared_machine")
