"""Bytes of a log to events. No Django, no files, no clock."""
