"""The volumes of a window, and why one of them is not known."""

VOLUMES = ("into_retry", "out_of_retry", "into_dlq", "consumed")

NOT_RECORDED = "not recorded then"
PART_MISSING = "a minute of it has no reading, or is not over"
NO_READING_BEFORE = "no reading close enough before this window"
UNREAD_OFFSET = "the offset was not read"
CONSUMER_WENT_BACK = "the consumer offset went back"
SET_BY_HAND = "the consumer offset was set by a reset"
BROKER_WENT_BACK = "the broker offset went back"
FIRST_COMMIT = "committed for the first time: where it began is not known"
NO_OWN_QUEUE = "no queue of its own topics was read"
NOT_ASKED = "which retry and dead-letter topics it has was not read yet"
RETRY_UNREAD = "its retry topic was not read in this window"
DEAD_LETTERS_UNREAD = "its dead-letter topic was not read in this window"
