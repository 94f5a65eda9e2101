"""Benchmarks, one file each with `run() -> list[Result]`: ours beside another's, measured in the same run."""
