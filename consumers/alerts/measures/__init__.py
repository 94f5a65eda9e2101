"""What rules look at, from stored rows alone: no broker is asked."""
