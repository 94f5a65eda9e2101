"""Dead letters and resends."""
