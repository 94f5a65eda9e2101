"""What the product says, as codes: stored, compared and sent as they are. Their words are made in `consumers.words`."""
