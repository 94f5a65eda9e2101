"""Lays JSON out in lines, and changes nothing else: numbers, repeated names and escapes stay as they were written."""

import re

_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
INDENT = "  "
# Levels beyond are indented no further: a body of nothing but brackets would become many times its size.
DEEPEST = 20


def laid_out(text: str) -> str:
    """`text` must be JSON."""
    tokens = _TOKENS.findall(text)
    lines: list[str] = []
    depth = 0
    for before, token in zip(["", *tokens], tokens, strict=False):
        if token in "}]":
            depth -= 1
            if before not in "{[":
                lines.append(_line(depth))
        elif before in ("{", "[", ","):
            lines.append(_line(depth))
        if token in "{[":
            depth += 1
        lines.append(": " if token == ":" else token)
    return "".join(lines)


def _line(depth: int) -> str:
    return "\n" + INDENT * min(depth, DEEPEST)
