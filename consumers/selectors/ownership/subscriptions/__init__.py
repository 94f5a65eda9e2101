"""Who subscribed to what, and how members differ."""
