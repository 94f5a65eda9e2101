"""docs/findings.md names every finding with its severity, in the section that answers lead to."""

import re
from pathlib import Path

from consumers.words.findings import SPECS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "findings.md").read_text()


def test_every_finding_is_in_the_section_that_it_leads_to() -> None:
    sections = {f"findings.md#{one.splitlines()[0].lower().replace(' ', '-')}": one for one in PAGE.split("\n## ")[1:]}
    named = {
        (code, severity, anchor)
        for anchor, section in sections.items()
        for code, severity in re.findall(r"^\| `(\w+)` \| (\w+) \|", section, re.MULTILINE)
    }
    assert named == {(code.value, spec.severity.value, spec.anchor) for code, spec in SPECS.items()}
