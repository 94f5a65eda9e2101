"""A strict reader of Prometheus' text format 0.0.4 and of OpenMetrics 1.0.0, for gauges: refuses what they forbid."""

import math
import re

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*\Z")
SAMPLE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)\Z")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,(?=[a-zA-Z_])|\Z)')
PLAIN = {r"\\": "\\", r"\"": '"', r"\n": "\n"}

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def parsed(text: str, *, open_metrics: bool = False) -> Samples:
    """Value by name and labels. AssertionError where the text breaks a rule of its format."""
    assert text.endswith("\n"), "the last line must end"
    lines = text.removesuffix("\n").split("\n")
    assert (lines[-1] == "# EOF") is open_metrics, "exactly OpenMetrics ends with # EOF"
    samples: Samples = {}
    families: dict[str, set[str]] = {}
    for line in lines[:-1] if open_metrics else lines:
        if line.startswith("#"):
            _read_comment(line, families, open_metrics)
            continue
        match = SAMPLE.match(line)
        assert match, f"not a sample: {line!r}"
        name, labels, value = match[1], _labels(match[2] or ""), float(match[3])
        assert list(families)[-1:] == [name], f"{name} stands outside of its family"
        assert "TYPE" in families[name], f"{name} has no type before its samples"
        assert math.isfinite(value), f"{line!r} is no measurement"
        assert (name, labels) not in samples, f"{line!r} is there twice"
        samples[name, labels] = value
    return samples


def _read_comment(line: str, families: dict[str, set[str]], open_metrics: bool) -> None:
    if not open_metrics and not line.startswith(("# HELP", "# TYPE", "# UNIT")):
        # Any remark may stand in Prometheus' own format, none in OpenMetrics.
        return
    words = line.split(" ", 3)
    assert len(words) == 4, f"not a comment: {line!r}"
    _hash, keyword, name, rest = words
    assert NAME.match(name), f"not a name: {name!r}"
    assert keyword in ("HELP", "TYPE", "UNIT")[: 3 if open_metrics else 2], f"not a keyword: {keyword!r}"
    assert not families or name == list(families)[-1] or name not in families, f"{name} has two places"
    said = families.setdefault(name, set())
    assert keyword not in said, f"{name} has two lines of {keyword}"
    said.add(keyword)
    assert keyword != "TYPE" or rest == "gauge", f"{name} is no gauge"
    assert keyword != "UNIT" or name.endswith(f"_{rest}"), f"{name} does not end in its unit"


def _labels(text: str) -> frozenset[tuple[str, str]]:
    found, at = [], 0
    while at < len(text):
        match = LABEL.match(text, at)
        assert match, f"not labels: {text!r}"
        found.append((match[1], re.sub(r'\\["\\n]', lambda escaped: PLAIN[escaped[0]], match[2])))
        at = match.end()
    assert len({name for name, _value in found}) == len(found), f"a label is there twice: {text!r}"
    return frozenset(found)
