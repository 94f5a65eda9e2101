"""The act itself: what the plan says is checked once more, written broker by broker, read back and ended."""
