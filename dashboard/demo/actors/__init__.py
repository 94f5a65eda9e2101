"""The processes of the demo: producers and consumers, each with a JVM."""
