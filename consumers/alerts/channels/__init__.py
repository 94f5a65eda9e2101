"""Channels: what may be entered for each kind, and how a message goes out through it. Nothing here decides who fires."""
