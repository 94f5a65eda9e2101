"""Words for RocketMQ's logs."""

from collections.abc import Mapping, Sequence

from django import template

from consumers.logs.queries import LogFileRow
from consumers.words.logs import log_form_words, log_role_words

register = template.Library()
register.filter("log_form", log_form_words)
register.filter("log_role", log_role_words)


@register.filter
def files_of(files: Mapping[str, Sequence[LogFileRow]], cluster: str) -> Sequence[LogFileRow]:
    return files.get(cluster, ())
