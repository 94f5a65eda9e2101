"""Rules, incidents and previews."""
