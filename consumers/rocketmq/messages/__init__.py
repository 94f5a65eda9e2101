"""Stored messages: headers, properties, bodies."""
