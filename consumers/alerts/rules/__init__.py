"""Fields of rules, notes and silences, the subjects they select, and the terms that apply to a subject."""
