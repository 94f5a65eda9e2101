"""Notification channels: the settings of each kind, and how messages are sent. Nothing here decides what fires."""
