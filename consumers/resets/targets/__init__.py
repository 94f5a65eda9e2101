"""Where queues are to go: checked, listed, or from the past."""
