"""What is said of a file and its rows."""
