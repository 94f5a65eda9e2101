"""The tags and filters that channel templates may use: none reads files, loads code or grows text without limit."""

from typing import Any

from django.template import Library, defaultfilters, defaulttags

from .template_bounds import TooMuch, paid, pay

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
