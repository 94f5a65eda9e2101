"""Members, what they own and subscribe to, as intervals."""
