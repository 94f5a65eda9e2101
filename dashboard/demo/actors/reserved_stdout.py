"""Standard output for answers only: what Java code prints goes to standard error instead."""

import os
from typing import TextIO


def reserve_stdout() -> TextIO:
    """A stream to where standard output led. Call it before the JVM starts."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return answers
