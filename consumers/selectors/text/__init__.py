"""Numbers, places and states as people read them."""
