"""Titles and bodies of messages: templates and their limits."""
