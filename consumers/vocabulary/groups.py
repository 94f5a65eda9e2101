"""Kinds of groups, and how members consume."""

from enum import StrEnum

# RocketMQ's own names of a message model and of consume types.
BROADCASTING, POPPING, PULLING = "BROADCASTING", "CONSUME_POP", "CONSUME_ACTIVELY"


class Flag(StrEnum):
    SYSTEM = "system"
    GHOST = "ghost"
    PAUSED = "paused"
    HABITUAL = "habitual"
    RETIRED_TOPICS = "retired_topics"
    OUTSIDE_STORE = "outside_store"
    UNLISTED_MEMBERS = "unlisted_members"
    BROADCASTING = "broadcasting"
    POP = "pop"
    TAG_FILTERED = "tag_filtered"
