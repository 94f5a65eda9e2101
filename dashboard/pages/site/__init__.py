"""Login, theme and errors."""
