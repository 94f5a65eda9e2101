"""Applies a plan: checks it again, writes broker by broker, reads back and ends the reset."""
