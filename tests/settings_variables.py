"""The variables that the settings declare, and docs/configuration.md as it is written of them.

`python -m tests.settings_variables` writes it.
"""

from pathlib import Path

from dashboard.settings.environment import SECTIONS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "configuration.md"
HEAD = """\
# Configuration

Environment variables configure everything. What can be set for one cluster or one group is described in
[clusters](clusters.md). Names end in their unit.

This page is written from the settings (`dashboard/settings/`) by `python -m tests.settings_variables`.
"""


def settings_variables() -> set[str]:
    return {name for section in SECTIONS.values() for name in section.variables}


def reference() -> str:
    parts = [HEAD]
    for section in SECTIONS.values():
        rows = (f"| `{one.name}` | {one.default} | {one.what} |" for one in section.variables.values())
        table = "\n".join(["| variable | default | what |", "|---|---|---|", *rows])
        parts.append("\n\n".join(filter(None, [f"## {section.title}", section.intro, table])) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    import django

    django.setup()
    PAGE.write_text(reference())
