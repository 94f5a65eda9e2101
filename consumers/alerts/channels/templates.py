"""Limits text, memory and time of templates that people write.

Every render step and every text costs units of one budget. A large text is charged before it is made. A template sees
values only and calls no methods.
"""

import contextlib
from collections.abc import Callable, Iterator, Sized
from contextvars import ContextVar
from datetime import datetime
from functools import lru_cache, partial, wraps
from typing import Any

from django.template import (
    Context,
    Engine,
    Library,
    Node,
    Template,
    TemplateSyntaxError,
    VariableDoesNotExist,
    defaultfilters,
    defaulttags,
)
from django.template.base import FilterExpression, Lexer, NodeList, Parser, Token, Variable
from django.template.context import BaseContext
from django.template.defaulttags import ForNode
from django.utils.translation import gettext

from consumers.alerts.fields import NO_TEXT, Check, WrongValue
from consumers.vocabulary.alerts import TemplateProblem
from consumers.vocabulary.reasons import stored_reason
from consumers.words.reasons import coded_reason, stored_words

# One unit is one character made or read. A built-in body takes 6,000 for an event.
STEP_UNITS = 50
# Lists and mappings are parts of the message: comparing or printing one reads all of it.
PART_UNITS = 1000
UNITS, UNITS_PER_EVENT = 1_000_000, 40_000
OF_MAPPINGS = frozenset({"items", "keys", "values"})
OF_TIMES = frozenset({"year", "month", "day", "hour", "minute", "second"})


class TooMuch(Exception):
    """The budget is used up. It stays used up: the template's next step raises again."""


class Budget:
    def __init__(self, units: int) -> None:
        self._left = units

    def pay(self, units: int) -> None:
        """Charges units. Raises TooMuch."""
        self._left -= units
        if self._left < 0:
            raise TooMuch


_budget: ContextVar[Budget | None] = ContextVar("budget", default=None)


@contextlib.contextmanager
def bounded(events: int) -> Iterator[None]:
    """The block renders on one budget. Raises TooMuch from the block."""
    token = _budget.set(Budget(UNITS + events * UNITS_PER_EVENT))
    try:
        yield
    finally:
        _budget.reset(token)


def pay(units: int) -> None:
    """Charges units of the current budget. Raises TooMuch. Without a budget, as in built-in texts, it costs nothing."""
    if (budget := _budget.get()) is not None:
        budget.pay(units)


def units_of(value: Any) -> int:
    if isinstance(value, (str, bytes)):
        return len(value)
    return PART_UNITS if isinstance(value, (list, tuple, dict)) else 0


def paid(filter_: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps a filter so that it is charged for what it reads and what it makes."""

    @wraps(filter_)
    def call(value: Any, *arguments: Any, **more: Any) -> Any:
        pay(STEP_UNITS + units_of(value) + sum(map(units_of, arguments)))
        made = filter_(value, *arguments, **more)
        pay(units_of(made))
        return made

    return call


class PlainVariable(Variable):
    """Looks up parts of mappings and lists, characters of texts, and fields of times; nothing is called."""

    __slots__ = ()

    def _resolve_lookup(self, context: BaseContext) -> Any:
        current: Any = context
        for bit in self.lookups or ():
            pay(STEP_UNITS)
            current = _part(current, bit)
        return current


def _part(whole: Any, name: str) -> Any:
    """Raises VariableDoesNotExist."""
    try:
        match whole:
            case BaseContext():
                return whole[name]
            case dict():
                return list(getattr(whole, name)()) if name not in whole and name in OF_MAPPINGS else whole[name]
            case list() | tuple() | str():
                return whole[int(name)]
            case datetime() if name in OF_TIMES:
                return getattr(whole, name)
    except (LookupError, ValueError):
        pass
    raise VariableDoesNotExist("%s is no part of it", (name,))


class BoundedExpression(FilterExpression):
    __slots__ = ()

    def __init__(self, token: str, parser: Parser) -> None:
        super().__init__(token, parser)
        self.var = _plain(self.var)
        self.filters = [(func, [(late, _plain(one)) for late, one in given]) for func, given in self.filters]

    def resolve(self, context: Any, ignore_failures: bool = False) -> Any:
        value = super().resolve(context, ignore_failures)
        pay(STEP_UNITS + units_of(value))
        return value


def _plain(value: Any) -> Any:
    return PlainVariable(value.var) if isinstance(value, Variable) else value


class BoundedSequence:
    """The list of a loop. All rounds are charged before the first one, as a round without text costs time too."""

    def __init__(self, expression: FilterExpression) -> None:
        self._expression = expression

    def __str__(self) -> str:
        return str(self._expression)

    def resolve(self, context: Any, ignore_failures: bool = False) -> Any:
        values = self._expression.resolve(context, ignore_failures)
        if isinstance(values, Sized):
            pay(len(values) * STEP_UNITS)
        return values


class BoundedParser(Parser):
    def compile_filter(self, token: str) -> BoundedExpression:
        return BoundedExpression(token, self)

    def extend_nodelist(self, nodelist: NodeList, node: Node, token: Token) -> None:
        super().extend_nodelist(nodelist, node, token)
        bounded_node: Any = node
        if isinstance(node, ForNode):
            bounded_node.sequence = BoundedSequence(bounded_node.sequence)
        bounded_node.render_annotated = partial(_render, bounded_node.render_annotated)


def _render(render: Callable[[Any], str], context: Any) -> str:
    pay(STEP_UNITS)
    text = render(context)
    pay(len(text))
    return text


class BoundedTemplate(Template):
    def compile_nodelist(self) -> NodeList:
        parser = BoundedParser(
            Lexer(self.source).tokenize(), self.engine.template_libraries, self.engine.template_builtins, self.origin
        )
        nodes = parser.parse()
        self.extra_data = parser.extra_data
        return nodes


# The tags and filters that channel templates may use: none reads files, loads code or grows text without limit.

register = Library()

TAGS = ("if", "for", "with", "firstof", "comment", "spaceless")
FILTERS = (
    *("capfirst", "cut", "date", "default", "default_if_none", "first", "join", "last", "length", "lower"),
    *("pluralize", "slice", "time", "title", "truncatechars", "upper", "yesno"),
)
# Each letter of a date format may become some thirty characters.
LONGEST_FORMAT = 100


def join(value: Any, arg: Any, autoescape: bool = True) -> Any:
    """Charged before it is made: a text joined with itself grows quadratically."""
    if isinstance(arg, str) and isinstance(value, (str, list, tuple, dict)):
        pay(len(value) * len(arg) + sum(len(part) for part in value if isinstance(part, str)))
    return defaultfilters.join(value, arg, autoescape=autoescape)


def date(value: Any, arg: Any = None) -> Any:
    _check_format(arg)
    return defaultfilters.date(value, arg)


def time(value: Any, arg: Any = None) -> Any:
    _check_format(arg)
    return defaultfilters.time(value, arg)


def _check_format(arg: Any) -> None:
    if len(str(arg)) > LONGEST_FORMAT:
        raise TooMuch


BOUNDED = {"join": join, "date": date, "time": time}

for name in TAGS:
    register.tag(name, defaulttags.register.tags[name])
for name in FILTERS:
    theirs = defaultfilters.register.filters[name]
    own = BOUNDED.get(name, theirs)
    # Django reads attributes of a filter's function: whether it needs local times, and whether its output is escaped.
    flags = {flag: getattr(theirs, flag, False) for flag in ("is_safe", "needs_autoescape", "expects_localtime")}
    register.filter(name, paid(own), **flags)


# Templates that people write for titles and bodies: Django's language, without access to anything but the message.

LONGEST_TITLE = 500
LONGEST_BODY = 4000
# Two nested loops cover groups of incidents; deeper nesting would only be slow.
DEEPEST_LOOPS = 2


class TemplateFailed(Exception):
    """str() is a stored reason, of TemplateProblem."""


class Words(Engine):
    default_builtins = ["consumers.alerts.channels.templates"]


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
            raise WrongValue(gettext("Must be text."))
        text = value.replace("\r\n", "\n")
        if len(text) > longest or NO_TEXT.search(text):
            raise WrongValue(coded_reason(TemplateProblem.TOO_LONG, longest=longest))
        if text.strip():
            try:
                for is_test in (True, False):
                    rendered(text, {**example(), "is_test": is_test})
            except TemplateFailed as error:
                raise WrongValue(stored_words(str(error))) from None
        return text if text.strip() else ""

    return check


def compiled(text: str) -> Template:
    """Raises TemplateFailed."""
    if len(text) > LONGEST_BODY:
        raise TemplateFailed(stored_reason(TemplateProblem.TOO_LONG, longest=LONGEST_BODY))
    try:
        template = BoundedTemplate(text, engine=engine())
        depth = _depth(template.nodelist)
    except TemplateSyntaxError as error:
        raise TemplateFailed(stored_reason(TemplateProblem.NOT_UNDERSTOOD, error=_one_line(error))) from None
    except RecursionError:
        raise TemplateFailed(stored_reason(TemplateProblem.NESTED_TOO_DEEP)) from None
    if depth > DEEPEST_LOOPS:
        raise TemplateFailed(stored_reason(TemplateProblem.LOOPS_TOO_DEEP, deepest=DEEPEST_LOOPS))
    return template


def rendered(text: str, payload: dict[str, Any]) -> str:
    """Raises TemplateFailed. Any failure is the template's own: it sees nothing but `payload`."""
    template = compiled(text)
    try:
        with bounded(len(payload.get("events", ()))):
            return _text(template, payload)
    except (TooMuch, MemoryError):
        raise TemplateFailed(stored_reason(TemplateProblem.TOO_MUCH)) from None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise TemplateFailed(stored_reason(TemplateProblem.NOT_FILLED, error=_one_line(error))) from None


def own_words(text: str, payload: dict[str, Any]) -> str:
    """Renders a built-in template: its output is as long as its content needs."""
    return _text(compiled(text), payload)


def _text(template: Template, payload: dict[str, Any]) -> str:
    return str(template.render(Context(dict(payload), autoescape=False)))


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
