"""What must hold for failed messages to come back."""
