"""The outcome of each written queue, from later readings and never from an answer alone."""
