"""Resends dead-letter messages: plans, starts, runs and cancels resends. No other code sends messages."""
