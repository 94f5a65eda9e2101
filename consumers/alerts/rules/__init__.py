"""What rules, notes and silences may say, whom they select, and what of them counts for a subject."""
