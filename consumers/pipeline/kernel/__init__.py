"""Evaluates queues: numpy over Arrow columns. No Spark, no Django, no clock."""
