"""Offset resets as every face shows them: rows and sums, in fixed numbers of queries."""
