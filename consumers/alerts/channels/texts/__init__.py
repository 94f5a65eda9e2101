"""Titles and bodies: templates and their bounds."""
