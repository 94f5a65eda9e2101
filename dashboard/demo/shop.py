"""The shop of the demo: its topics, its consumer groups, what a member of a group reports and is assigned, and what
each group's handlers do with a message. Only data and decisions: no Java, no clock, no process. Each group has a note
of what it demonstrates."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Message:
    """A message as a handler sees it. `reconsume_times` is 0 at its first delivery."""

    topic: str
    queue_id: int
    queue_offset: int
    keys: str
    body: bytes
    reconsume_times: int
    # What its producer gave it, which every copy of it keeps (UNIQ_KEY).
    unique_key: str = ""


# True: consumed. False: later, which an orderly consumer does on the spot and a concurrent one by sending back.
Handler = Callable[[Message], bool]


@dataclass(frozen=True)
class Membership:
    """What a member says of itself. Its client id is `127.0.0.1@instance`."""

    group: str
    topic: str
    instance: str
    orderly: bool = False
    broadcasting: bool = False
    threads: int = 1
    # None leaves RocketMQ's own: 16, orderly for ever.
    max_reconsume_times: int | None = None
    # None leaves RocketMQ's own. A failing queue of an orderly consumer is tried again after this.
    suspend_milliseconds: int | None = None
    # How many messages of a queue a member holds. RocketMQ's own is 1000, which a slow consumer of a demo never fills.
    hold_messages: int = 1000
    pull_messages: int = 32
    # How many messages one call of the listener is given. What it answers is of all of them.
    batch_messages: int = 1
    # Which messages it takes, as tags joined by `||`.
    tags: str = "*"
    # It takes what the broker gives it to pop, where the group was let pop from the topic.
    pops: bool = False
    # What it popped and did not acknowledge within this comes again. None leaves RocketMQ's own: 60 s.
    invisible_milliseconds: int | None = None
    # None leaves RocketMQ's own: 5 s.
    commit_milliseconds: int | None = None
    # RocketMQ's own waits for nothing.
    wait_at_shutdown_milliseconds: int = 0
    # How the queues are shared out: a class of RocketMQ's rebalance package. None leaves its own, the averagely one.
    strategy: str | None = None
    # A message whose handler takes longer is sent back, to be retried. None leaves RocketMQ's own: 15 min.
    timeout_minutes: int | None = None
    # How often it asks name servers for routes. None leaves RocketMQ's own: 30 s.
    route_milliseconds: int | None = None


# Retries use level 3 and up. RocketMQ's own take 100 s to a group's third retry; these take 27 s.
DELAY_LEVELS = "1s 2s 4s 8s 15s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m"
RETRIES_BEFORE_DEAD_LETTER = 3


@dataclass(frozen=True)
class Topic:
    name: str
    queues: int
    messages_per_second: float


ORDERS = Topic("Orders", queues=8, messages_per_second=8)
INVOICES = Topic("Invoices", queues=4, messages_per_second=4)
NOTIFICATIONS = Topic("Notifications", queues=4, messages_per_second=4)
STOCK_MOVEMENTS = Topic("StockMovements", queues=4, messages_per_second=4)
PRODUCTS = Topic("Products", queues=8, messages_per_second=4)
PRICES = Topic("Prices", queues=4, messages_per_second=2)
TOPICS = (ORDERS, INVOICES, NOTIFICATIONS, STOCK_MOVEMENTS, PRODUCTS, PRICES)

# Sent once, into one queue, when the queue's consumer has committed something.
POISON_KEY = "stock-of-an-item-that-does-not-exist"
POISON_QUEUE = 2
POISON_AFTER_SECONDS = 25.0

# Healthy.
CHECKOUT = tuple(Membership("checkout", ORDERS.name, f"checkout-{number}") for number in (1, 2, 3))

# Two members that take 2 s for a message: a quarter of what is produced. Its time lag grows by 45 s a minute for ever.
# They hold few messages, or each would take a thousand and show nothing of its backlog as ready.
BILLING = tuple(
    Membership("billing", INVOICES.name, f"billing-{number}", hold_messages=32, pull_messages=4) for number in (1, 2)
)
BILLING_SECONDS = 2.0

# Some messages fail at first, some at every attempt: they are retried, and the latter become dead letters.
EMAIL = (Membership("email", NOTIFICATIONS.name, "email-1", threads=2, max_reconsume_times=RETRIES_BEFORE_DEAD_LETTER),)
FAILS_ONCE_EVERY = 10
BOUNCES_EVERY = 50

# Orderly: the poison is tried again for ever, and what follows it in its queue waits.
INVENTORY = tuple(
    Membership("inventory", STOCK_MOVEMENTS.name, f"inventory-{number}", orderly=True) for number in (1, 2)
)

# Two that stay, one that comes and goes.
SEARCH_INDEX = tuple(Membership("search-index", PRODUCTS.name, f"search-index-{number}") for number in (1, 2))
ROAMER = Membership("search-index", PRODUCTS.name, "search-index-3")

# Consumes for a while, then is gone for good while orders keep coming.
AUDIT = tuple(Membership("audit", ORDERS.name, f"audit-{number}") for number in (1, 2))
AUDIT_SECONDS = 20.0

# Each member gets every message and keeps its offsets in a file of its own.
PRICING_CACHE = tuple(
    Membership("pricing-cache", PRICES.name, f"pricing-cache-{number}", broadcasting=True) for number in (1, 2)
)

STEADY = (*CHECKOUT, *BILLING, *EMAIL, *INVENTORY, *SEARCH_INDEX, *PRICING_CACHE)


def is_sent(keys: str, reconsume_times: int) -> bool:
    """Whether an email leaves at this attempt: every 50th bounces for ever, every other 10th is sent by a retry."""
    number = message_number(keys)
    if number % BOUNCES_EVERY == 0:
        return False
    return number % FAILS_ONCE_EVERY != 0 or reconsume_times > 0


def is_booked(message: Message) -> bool:
    """Whether a stock movement can be booked. The poison never can."""
    return message.keys != POISON_KEY


def message_keys(topic: str, number: int) -> str:
    return f"{topic}-{number}"


def message_number(keys: str) -> int:
    return int(keys.rpartition("-")[2])


def message_body(topic: str, number: int) -> bytes:
    """A few dozen bytes that a person can read."""
    return f'{{"{topic.lower()}": {number}, "customer": {number * 7919 % 10_000}}}'.encode()


def messages_due(messages_per_second: float, elapsed_seconds: float, sent: int) -> int:
    """How many more messages a topic should have had by `elapsed_seconds`."""
    return max(0, int(elapsed_seconds * messages_per_second) - sent)
