"""What is done with a reset: start, resume, cancel, restore."""
