"""Offset resets: planned, applied, read back, restored. The one way in which a consumer offset is ever moved."""
