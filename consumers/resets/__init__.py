"""Offset resets: planned, applied, read back, restored. No other code moves a consumer offset."""
