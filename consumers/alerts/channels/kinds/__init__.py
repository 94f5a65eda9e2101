"""The kinds of channels, and how each sends."""
