"""The dry run: what is, what would be, and what that would do to whom. Brokers are asked, and nothing is changed."""
