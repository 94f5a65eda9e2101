"""How much was retried, died and was consumed."""
