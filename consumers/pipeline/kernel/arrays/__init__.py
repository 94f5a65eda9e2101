"""Columns, keys, segments and sums of numpy and Arrow."""
