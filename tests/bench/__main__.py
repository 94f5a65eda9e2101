"""`python -m tests.bench [name …]`: runs the benches, prints a table, writes bench.json into the home."""

import importlib
import json
import os
import pkgutil
import platform
import sys
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

import django
from django.conf import settings

from tests import bench
from tests.bench.result import Result

COLUMNS = f"{'bench':<44}{'ours':>14}{'beside':>14}{'ratio':>8}  beside what"


def benches() -> dict[str, ModuleType]:
    """The modules of this package that can be run, by their names."""
    found = pkgutil.walk_packages(bench.__path__, f"{bench.__name__}.")
    names = (module.name for module in found if not module.name.endswith("__main__") and ".test_" not in module.name)
    modules = {name.rpartition(".")[2]: importlib.import_module(name) for name in names}
    return {name: module for name, module in modules.items() if callable(getattr(module, "run", None))}


def table_lines(results: Iterable[Result]) -> list[str]:
    return [
        f"{r.name:<44}{f'{r.ours:,.3g} {r.ours_unit}':>14}{f'{r.beside_value:,.3g} {r.ours_unit}':>14}{r.ratio:>8.1f}"
        f"  {r.beside}" + (f"\n    {r.note}" if r.note else "")
        for r in results
    ]


def write_json(path: Path, taken_at: datetime, results: dict[str, list[Result]]) -> None:
    machine = {"cores": os.cpu_count(), "machine": platform.machine(), "python": platform.python_version()}
    rows = [{"bench": name, **asdict(row)} for name, rows in results.items() for row in rows]
    path.write_text(json.dumps({"taken_at": taken_at.isoformat(), **machine, "results": rows}, indent=2) + "\n")


def main(wanted: list[str]) -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
    django.setup()
    known = benches()
    unknown = set(wanted) - set(known)
    if unknown:
        print(f"There is no bench {', '.join(sorted(unknown))}: name some of {', '.join(known)}.", file=sys.stderr)
        return 2
    path = settings.CONSUMERSCOPE_HOME / "bench.json"
    results: dict[str, list[Result]] = {}
    taken_at = datetime.now(UTC)
    print(COLUMNS)
    for name in wanted or known:
        results[name] = known[name].run()
        print("\n".join(table_lines(results[name])), flush=True)
        # After each, so that one that fails does not take the others' numbers with it.
        write_json(path, taken_at, results)
    print(f"Written to {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
