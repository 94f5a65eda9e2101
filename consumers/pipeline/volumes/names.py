"""The volumes of a window. Why one of them is not known: consumers/vocabulary/volumes.py."""

VOLUMES = ("into_retry", "out_of_retry", "into_dlq", "consumed")
