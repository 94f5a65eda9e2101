"""Incidents, rules, channels, silences and notes as every face shows them: rows, in fixed numbers of queries."""
