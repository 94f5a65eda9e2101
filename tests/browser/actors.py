"""The groups of the shop: one in every state, and many that keep up."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Actor:
    """A group of the story: the lag of its queues, its state and the numbers of the rule that decided."""

    name: str
    state: str
    lags: tuple[int, ...]
    rule: str = "lagging"
    topic: str = "Orders"
    time_lag: float | None = 0.0
    rates: tuple[float, float] = (120.0, 120.0)
    detail: Any = None
    since: float = 86_400
    members: int = 3
    dlq: int = 0


TROUBLED = (
    Actor("ledger", "LOSS", (700, 41_200, 0, 0), "messages expired before they were consumed", "Payments", 93_600,
          (12, 88), {"lost_messages": 3_120}, 5_400),
    Actor("audit", "STOP", (22_100, 22_105, 22_101, 22_104), "no member", "Orders", 2_460, (0, 36),
          {"no_members_seconds": 4_080, "lag_messages": 88_410}, 4_080, 0),
    Actor("inventory", "STALL", (0, 0, 12, 9_120), "blocked", "Stock", 720, (31, 44),
          {"still_seconds": 720, "client_id": "10.0.0.7@3312", "lag_messages": 9_120}, 720),
    Actor("pricing", "REWIND", (600, 580, 610, 590), "offset_went_back", "Prices", 190, (410, 22),
          {"back_messages": 2_300}, 300),
    Actor("billing", "WARN", (13_030, 13_100, 12_950, 13_038), "falling_behind", "Orders", 192, (80, 120),
          {"time_lag_from_seconds": 60, "time_lag_to_seconds": 192}, 1_320),
    Actor("search-index", "OK", (210, 190, 220, 205), "draining", "Catalogue", 38, (140, 95), None, 4_000),
)  # fmt: skip
CALM = ("checkout", "email", "loyalty", "shipping", "returns", "recommendations", "fraud-check", "invoicing",
        "stock-sync", "web-push", "sms", "crm-export", "data-lake-sink", "price-alerts", "gift-cards", "reviews",
        "supplier-feed", "tax", "warehouse-picking", "a-group-with-a-rather-long-name-for-its-purpose-EU")  # fmt: skip
