"""What became of each queue that was written, told from what is read of it afterwards, never from an answer alone."""
