"""Applies a plan: checks it again, writes broker by broker, reads back and ends the reset. What became of each queue is
read, never taken from an answer alone.
"""
