"""Templates that people write for titles and bodies: Django's language, without access to anything but the message."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from django.template import Context, Engine, Template, TemplateSyntaxError
from django.template.base import NodeList
from django.template.defaulttags import ForNode

from consumers.alerts.fields import NO_TEXT, Check, WrongValue

from .template_bounds import BoundedTemplate, TooMuch, bounded

LONGEST_TITLE = 500
LONGEST_BODY = 4000
# Two nested loops cover groups of incidents; deeper nesting would only be slow.
DEEPEST_LOOPS = 2
TOO_MUCH = (
    "The template makes more text than a message can hold, or takes too long: use smaller loops, and do not join texts "
    "with texts."
)


class TemplateFailed(Exception):
    """str() is one sentence."""


class Words(Engine):
    default_builtins = ["consumers.alerts.channels.texts.template_words"]


@lru_cache(1)
def engine() -> Engine:
    """Has no folders, loaders or libraries. Output is not escaped: the code that makes HTML of it escapes it."""
    return Words(dirs=[], loaders=[], libraries={}, autoescape=False, debug=False)


def checked_template(longest: int, example: Callable[[], dict[str, Any]]) -> Check:
    """A checked template; empty selects the built-in one. It is rendered with `example` as a test message and as a real
    one, because a template may compile and still fail.
    """

    def check(value: Any) -> str:
        if not isinstance(value, str):
            raise WrongValue("It is text.")
        text = value.replace("\r\n", "\n")
        if len(text) > longest or NO_TEXT.search(text):
            raise WrongValue(f"A template has at most {longest} characters, and none that control.")
        if text.strip():
            try:
                for is_test in (True, False):
                    rendered(text, {**example(), "is_test": is_test})
            except TemplateFailed as error:
                raise WrongValue(str(error)) from None
        return text if text.strip() else ""

    return check


def compiled(text: str) -> Template:
    """Raises TemplateFailed."""
    if len(text) > LONGEST_BODY:
        raise TemplateFailed(f"A template has at most {LONGEST_BODY} characters.")
    try:
        template = BoundedTemplate(text, engine=engine())
        depth = _depth(template.nodelist)
    except TemplateSyntaxError as error:
        raise TemplateFailed(f"The template is not understood: {_one_line(error)}.") from None
    except RecursionError:
        raise TemplateFailed("The template is not understood: too much stands within each other.") from None
    if depth > DEEPEST_LOOPS:
        raise TemplateFailed(f"A template has at most {DEEPEST_LOOPS} loops within each other.")
    return template


def rendered(text: str, told: dict[str, Any]) -> str:
    """Raises TemplateFailed. Any failure is the template's own: it sees nothing but `told`."""
    template = compiled(text)
    try:
        with bounded(len(told.get("events", ()))):
            return _text(template, told)
    except (TooMuch, MemoryError):
        raise TemplateFailed(TOO_MUCH) from None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise TemplateFailed(f"The template could not be filled: {_one_line(error)}.") from None


def own_words(text: str, told: dict[str, Any]) -> str:
    """Renders a built-in template: its output is as long as its content needs."""
    return _text(compiled(text), told)


def _text(template: Template, told: dict[str, Any]) -> str:
    return str(template.render(Context(dict(told), autoescape=False)))


def _depth(nodes: Any) -> int:
    """How deep loops are nested."""
    deepest = 0
    for node in nodes:
        inner = max((_depth(getattr(node, name, NodeList())) for name in _parts(node)), default=0)
        deepest = max(deepest, inner + isinstance(node, ForNode))
    return deepest


def _parts(node: Any) -> list[str]:
    return [*node.child_nodelists, *(["nodelist"] if "nodelist" not in node.child_nodelists else [])]


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__
