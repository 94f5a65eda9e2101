"""`python -m tests.fuzz VERB …`: long searches for what breaks, each seeded. Short forms of them are tests."""

import sys
from collections.abc import Callable, Sequence

from tests.fuzz import frames, rest

# Each takes the arguments after its name, prints what it found and returns the exit status.
VERBS: dict[str, Callable[[Sequence[str]], int]] = {"frames": frames.main, "rest": rest.main}


def main(arguments: Sequence[str]) -> int:
    if not arguments or arguments[0] not in VERBS:
        print(f"Usage: python -m tests.fuzz {{{','.join(VERBS)}}} [COUNT] [SEED]", file=sys.stderr)
        return 2
    return VERBS[arguments[0]](arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
