"""What the general worker is asked for, the connections it answers with, and how a long job is held by one worker."""
