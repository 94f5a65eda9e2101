"""`python -m dashboard.demo`: tells the story until SIGTERM or Ctrl-C. Standard output has one line of JSON only."""

import os
import signal
import sys
from pathlib import Path
from types import FrameType

from dashboard.demo.actors.actor import PROJECT

from .jars import ensure_jars, jars_folder
from .java import DemoFailed, find_java
from .story import tell_story


def main() -> int:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _stop)
    home = Path(os.environ.get("CONSUMERSCOPE_HOME") or PROJECT / "var").resolve()
    try:
        jars = ensure_jars(find_java(), jars_folder(home), progress=_say)
        tell_story(home, jars, announce=lambda line: print(line, flush=True))
    except KeyboardInterrupt:
        return 0
    except DemoFailed as failure:
        _say(str(failure))
        return 1


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _stop(_number: int, _frame: FrameType | None) -> None:
    # One interrupt ends it wherever it stands, also while jars arrive; a second one must not disturb the clearing up.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
