"""Channels: what may be entered for each kind, and how messages go out through it. Nothing here decides what fires."""
