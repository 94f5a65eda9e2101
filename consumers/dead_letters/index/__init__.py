"""The index of dead letters: what is in `%DLQ%` topics as rows, without the bodies, kept up by looks."""
