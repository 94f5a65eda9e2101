"""Dead-letter messages: indexed, fetched for a person, exported and resent.

Only tasks of the general worker run this code; no other code opens a socket to a broker for dead-letter messages.
"""
