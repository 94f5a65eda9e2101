"""Who owns which queue."""
