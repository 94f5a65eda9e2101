"""What the pipeline wrote."""
