"""Log files of programs: one per start, a few old ones kept."""

from pathlib import Path

KEPT = 3


def rotate(log: Path) -> None:
    """Makes room for a fresh `log`: the last one becomes `log.1`, that one `log.2`; the oldest goes."""
    names = [log, *(log.with_name(f"{log.name}.{number}") for number in range(1, KEPT + 1))]
    for older, newer in reversed(list(zip(names[1:], names, strict=False))):
        if newer.exists():
            newer.replace(older)


def last_lines(log: Path, count: int) -> list[str]:
    """The last lines that say something; none when there is no log."""
    if not log.exists():
        return []
    lines = [line.rstrip() for line in log.read_text(errors="replace").splitlines()]
    return [line for line in lines if line][-count:]


class Tail:
    """The whole lines that were appended to a log since the last look."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._read = 0

    def lines(self) -> list[str]:
        if not self._log.exists():
            return []
        with self._log.open("rb") as file:
            file.seek(self._read)
            whole, newline, _ = file.read().rpartition(b"\n")
        self._read += len(whole) + len(newline)
        return whole.decode(errors="replace").splitlines()
