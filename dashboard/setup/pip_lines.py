"""What pip prints, made short: how far it is while it works, why it stopped when it failed."""

import re

LARGE_MB = 20.0
EVERY = 10
_COLLECTING = re.compile(r"^(?:Collecting|Requirement already satisfied:) ([A-Za-z0-9._-]+)==")
_FETCHING = re.compile(r"^\s*(?:Downloading|Using cached) (\S+) \(([0-9.]+) (GB|MB)\)")
# Seen in what pip prints when names do not resolve, nothing answers, or a proxy refuses. What is locked was published:
# where pip finds no version of it at all, it saw no index.
_NO_NETWORK = (
    "NewConnectionError",
    "ConnectTimeoutError",
    "NameResolutionError",
    "ProxyError",
    "ReadTimeoutError",
    "(from versions: none)",
)


class Progress:
    """`doing` is always what pip does at this moment; `read` answers with a line when there is one worth showing."""

    def __init__(self, packages: int) -> None:
        self.doing = "starting pip"
        self._packages = packages
        self._seen: set[str] = set()

    def read(self, line: str) -> str | None:
        if match := _COLLECTING.match(line):
            return self._collecting(match.group(1))
        if match := _FETCHING.match(line):
            return self._fetching(match.group(1), float(match.group(2)), match.group(3))
        if line.startswith("Building wheels for collected packages:"):
            self.doing = "building" + line.split(":", 1)[1].rstrip()
            return f"  {self.doing}"
        if line.startswith("Installing collected packages:"):
            self.doing = "putting the packages in place"
            return f"  {self.doing} (up to a minute)"
        return None

    def _collecting(self, name: str) -> str | None:
        self._seen.add(name)
        self.doing = f"package {len(self._seen)} of at most {self._packages}, {name}"
        return f"  {self.doing}" if len(self._seen) % EVERY == 0 else None

    def _fetching(self, name: str, size: float, unit: str) -> str | None:
        self.doing = f"fetching {name} ({size:g} {unit})"
        return f"  {self.doing}" if unit == "GB" or size >= LARGE_MB else None


def reason_of(lines: list[str]) -> str:
    """One sentence for a pip that failed."""
    if any(sign in line for line in lines for sign in _NO_NETWORK):
        return (
            "The locked packages could not be fetched, as nothing answers: connect this machine to the network once, "
            "or tell pip where its packages are (pip's own configuration is honoured)."
        )
    errors = [line for line in lines if line.startswith("ERROR:")] or lines[-1:]
    said = errors[0].removeprefix("ERROR:").strip() if errors else "it said nothing"
    return f"pip could not install the locked packages: {said}"
