"""Who owned which queue when."""
