"""Who is to own each queue: what members compute."""
