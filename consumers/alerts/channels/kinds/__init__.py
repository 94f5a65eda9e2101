"""The kinds of channels, and how each kind sends messages."""
