"""What offset resets may do, and how long is waited for what."""

from .environment import flag, number, section, words

section("Offset resets", "What a [reset](resets.md) may do, and how long it waits.")

CONSUMERSCOPE_READ_ONLY_CLUSTERS = words(
    "CONSUMERSCOPE_READ_ONLY_CLUSTERS",
    "",
    "Clusters that nothing is written to, separated by commas: their names, or addresses of their "
    "name servers or brokers. `*` means all. See [access](access.md).",
)
CONSUMERSCOPE_RESET_SECOND_PERSON = flag(
    "CONSUMERSCOPE_RESET_SECOND_PERSON", False, "1: whoever planned a reset may not apply it."
)
RESET_PLAN_SECONDS = number(
    "RESET_PLAN_SECONDS", 900, "A plan expires if it is not applied within this time.", least=10
)
RESET_QUEUES_MAX = int(number("RESET_QUEUES_MAX", 10000, "How many queues one reset may move.", least=1))
RESET_TOLERANCE_MESSAGES = int(
    number("RESET_TOLERANCE_MESSAGES", 10000, "How far a queue may move between plan and reset.")
)
RESET_MESSAGE_TIMES = int(
    number("RESET_MESSAGE_TIMES", 200, "For how many queues the message at the target is read to show its time.")
)
# Each queue is read back until it has stood, or moved on, for so long; then longest for so long.
RESET_SETTLED_SECONDS = number(
    "RESET_SETTLED_SECONDS", 12, "A queue is read back until it has stood still, or moved on, for this long.", least=1
)
RESET_READ_BACK_SECONDS = number(
    "RESET_READ_BACK_SECONDS",
    60,
    "The longest a queue is read back, unless members [need longer](resets.md#how-long-it-takes).",
    least=1,
)
# A request over REST waits so long for its plan; then it is answered without.
RESET_PLAN_WAIT_SECONDS = number(
    "RESET_PLAN_WAIT_SECONDS", 10, "How long REST waits for a plan before it answers that planning goes on."
)
