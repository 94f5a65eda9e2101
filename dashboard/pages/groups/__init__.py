"""Groups and one group."""
