"""Limits text, memory and time of templates that people write.

Every render step and every text costs units of one budget. A large text is charged before it is made. A template sees
values only and calls no methods.
"""

import contextlib
from collections.abc import Callable, Iterator, Sized
from contextvars import ContextVar
from datetime import datetime
from functools import partial, wraps
from typing import Any

from django.template import Node, Template, VariableDoesNotExist
from django.template.base import FilterExpression, Lexer, NodeList, Parser, Token, Variable
from django.template.context import BaseContext
from django.template.defaulttags import ForNode

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
