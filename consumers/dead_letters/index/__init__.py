"""The index of dead-letter messages: rows of the messages in `%DLQ%` topics, without bodies, updated by
index passes.
"""
