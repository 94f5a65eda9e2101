"""The actor that joins and leaves its group when the story says so on standard input. Sometimes it is killed."""

import sys

from dashboard.demo import shop

from .actor import begin_actor
from .consuming import join


def main() -> None:
    arguments, answers = begin_actor()
    print("ready", file=answers, flush=True)
    member = None
    for line in sys.stdin:
        if line == "join\n":
            member = join(arguments.namesrv, shop.ROAMER)
        elif member is not None:
            member.shutdown()
            member = None
        print(line.strip(), file=answers, flush=True)


if __name__ == "__main__":
    main()
