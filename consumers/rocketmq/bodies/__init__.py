"""Bodies of answers, parsed to typed values."""
