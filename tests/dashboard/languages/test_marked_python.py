"""Every sentence that Python code of the site writes for readers goes through gettext."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.catalogue.extracted import CONTEXT, PLURAL, ROOT, SINGULAR

SITE = ROOT / "dashboard"
FOLDERS = ("pages", "wording", "templatetags", "figures", "svg")
# Two words at least, one of them in small letters: a sentence, and not a code, a name or a path.
SENTENCE = re.compile(r"[A-Za-z]{2,}[,:;]? +(\S+ +)*?[a-z]{2,}|[a-z]{2,}[,:;]? +(\S+ +)*?[A-Za-z]{2,}")
# HTML, HTTP headers, formats of logs and times.
NO_WORDS = re.compile(r"<|^[a-z]+/[a-z]+|max-age|no-store|no-cache")
# Errors that only a developer's mistake raises.
OF_DEVELOPERS = {"AssertionError", "ImproperlyConfigured", "KeyError", "NotImplementedError", "TypeError", "ValueError"}
LOGGED = {"critical", "debug", "error", "exception", "info", "warning"}
# Examples of every component, with made-up names.
EXAMPLES = SITE / "pages" / "site" / "patterns.py"
# What stands here is the same in every language: answers to requests that no page makes, codes, names of fonts,
# and what is written into the audit.
SAME_EVERYWHERE = {
    " must be one of ",
    "language must be one of ",
    "The database does not answer: try again.",
    "This request makes no sense.",
    "This is not allowed.",
    "There is no ",
    "Asked to see the body of a message.",
    "Asked to see the body of the dead letter.",
    "Disabled: no group of the provider has a role.",
    "Roles by the provider's groups: ",
    "Signed in for the first time, as ",
    "openid email profile",
    "fired apart",
    "fired open",
    "left out",
    "system-ui, sans-serif",
    "unknown backlog",
    "unknown sample",
    "The site has failed to answer this. Its log says why.",
}


def unmarked(text: str) -> Iterator[tuple[int, str]]:
    yield from _within(ast.parse(text))


def _within(node: ast.AST) -> Iterator[tuple[int, str]]:
    for child in ast.iter_child_nodes(node):
        if (isinstance(node, ast.Dict) and child in node.keys) or (isinstance(node, ast.Assert) and child is node.msg):
            continue
        if isinstance(child, ast.Constant) and isinstance(child.value, str):
            if SENTENCE.search(child.value) and not NO_WORDS.search(child.value):
                yield child.lineno, child.value
        elif not _is_left_out(child):
            yield from _within(child)


def _is_left_out(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if not isinstance(node, ast.Call):
        return False
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    return name in SINGULAR | PLURAL | CONTEXT | OF_DEVELOPERS | LOGGED


def modules() -> list[Path]:
    return sorted(path for folder in FOLDERS for path in (SITE / folder).rglob("*.py") if path != EXAMPLES)


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SITE)))
def test_every_sentence_is_marked(path: Path) -> None:
    found = [(line, text) for line, text in unmarked(path.read_text()) if text not in SAME_EVERYWHERE]
    assert not found, "\n".join(f"{path.relative_to(ROOT)}:{line}: {text}" for line, text in found)


def test_the_rule_finds_a_sentence_without_a_mark() -> None:
    assert list(unmarked('words = f"no such {name}, and why"')) == [(1, "no such "), (1, ", and why")]


@pytest.mark.parametrize(
    "code",
    ['_("no such group")', '"""Said of developers."""', 'raise ValueError("no such thing")', 'log.info("it ran once")'],
)
def test_it_leaves_what_needs_no_mark(code: str) -> None:
    assert not list(unmarked(code))
