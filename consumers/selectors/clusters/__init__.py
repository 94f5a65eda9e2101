"""Clusters, brokers, runs, and the room that history takes."""
