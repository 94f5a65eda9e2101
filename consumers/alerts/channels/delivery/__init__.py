"""Delivery of messages: which message is sent when, and the result."""
