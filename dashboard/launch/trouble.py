"""Why a launch ends: a reason in one sentence, or the user's wish."""


class LaunchFailed(Exception):
    """It cannot start, or go on; the text says why and what to do."""


class StopAsked(Exception):
    """Ctrl-C, or a request to end, while something was awaited."""
