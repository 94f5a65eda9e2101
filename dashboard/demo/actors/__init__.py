"""The processes of the story: producers and consumers with a JVM of their own."""
