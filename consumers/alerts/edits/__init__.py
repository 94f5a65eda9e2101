"""Rules, channels and notes as people write them: kept, changed and removed, each with who did it."""
