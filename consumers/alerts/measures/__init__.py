"""Measures of alert rules, from stored rows alone: no broker is asked."""
