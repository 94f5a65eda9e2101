"""Rules, channels, incidents, previews and health."""
