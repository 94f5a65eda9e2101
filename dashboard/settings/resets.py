"""What offset resets may do, and how long is waited for what."""

from .environment import flag, number, words

# Names of clusters whose brokers are never told to change anything; * is all.
CONSUMERSCOPE_READ_ONLY_CLUSTERS = words("CONSUMERSCOPE_READ_ONLY_CLUSTERS", "")
# Whoever planned a reset may not apply it.
CONSUMERSCOPE_RESET_SECOND_PERSON = flag("CONSUMERSCOPE_RESET_SECOND_PERSON", False)
# A plan is void after so long.
RESET_PLAN_SECONDS = number("RESET_PLAN_SECONDS", 900, least=10)
RESET_QUEUES_MAX = int(number("RESET_QUEUES_MAX", 10000, least=1))
# So far a queue of a group with members may have moved on since the plan.
RESET_TOLERANCE_MESSAGES = int(number("RESET_TOLERANCE_MESSAGES", 10000))
# Of so many queues the message at the target is read, for its time.
RESET_MESSAGE_TIMES = int(number("RESET_MESSAGE_TIMES", 200))
# Each queue is read back until it has stood, or moved on, for so long; then longest for so long.
RESET_SETTLED_SECONDS = number("RESET_SETTLED_SECONDS", 12, least=1)
RESET_READ_BACK_SECONDS = number("RESET_READ_BACK_SECONDS", 60, least=1)
# A request over REST waits so long for its plan; then it is answered without.
RESET_PLAN_WAIT_SECONDS = number("RESET_PLAN_WAIT_SECONDS", 10)
