"""Everything on one machine: starts Redis, web, workers, beat and the demo, keeps them running, ends them together.

Only this package starts processes for a user; nothing here reads a broker or writes a reading.
"""
