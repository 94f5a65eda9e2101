"""Benches of the pipeline: runs, evaluation, history, rebalances, previews."""
