"""The tags and filters that templates of channels may use: those that cannot read files, load code or grow a text."""

from django.template import Library, defaultfilters, defaulttags

register = Library()

TAGS = ("if", "for", "with", "firstof", "comment", "spaceless")
FILTERS = (
    *("capfirst", "cut", "date", "default", "default_if_none", "first", "join", "last", "length", "lower"),
    *("pluralize", "slice", "time", "title", "truncatechars", "upper", "yesno"),
)

for name in TAGS:
    register.tag(name, defaulttags.register.tags[name])
for name in FILTERS:
    register.filter(name, defaultfilters.register.filters[name])
