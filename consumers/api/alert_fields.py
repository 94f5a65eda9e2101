"""What incidents and the messages about them look like over REST."""
