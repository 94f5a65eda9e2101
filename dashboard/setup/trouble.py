"""The one error of the set-up."""


class SetupFailed(Exception):
    """The checkout cannot be made ready; the text says in one sentence why, and what to do."""
