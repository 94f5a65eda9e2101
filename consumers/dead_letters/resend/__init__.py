"""Dead letters sent again: the one service that plans, starts, runs and cancels it. Nothing else sends messages."""
