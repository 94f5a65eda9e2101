"""Writes what a run found into Django's rows: what changed, in short transactions, never over a later judgement."""
