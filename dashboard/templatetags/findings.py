"""Findings: how bad each is, by word and shape."""

from django import template
from django.utils.safestring import SafeString

from consumers.vocabulary.findings import FindingSeverity
from consumers.words.findings import SEVERITIES

from .kinds import like_state

register = template.Library()

# The states whose shape and colour each has.
LIKE = {
    FindingSeverity.CRITICAL: "STOP",
    FindingSeverity.WARNING: "WARN",
    FindingSeverity.UNKNOWN: "UNKNOWN",
    FindingSeverity.INFO: "UNKNOWN",
}


@register.simple_tag
def severity(word: FindingSeverity) -> SafeString:
    return like_state(LIKE[word], SEVERITIES[word])
