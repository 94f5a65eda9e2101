"""What can keep the demo from running. The text is one sentence: what is wrong and what to do."""


class DemoFailed(Exception):
    """The root of them all."""
