"""What a rule would have done over stored history: asked for by people, answered by a worker."""
