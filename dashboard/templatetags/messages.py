"""Attempts of a message in cells: what a copy is, and what the group's offset says of it."""

from django import template

from consumers.words.repeats import kind_words, progress_words

register = template.Library()
register.filter("copy_kind", kind_words)
register.filter("attempt_progress", progress_words)
