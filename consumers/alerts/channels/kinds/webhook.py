"""A signed POST of the payload as it is."""

import hashlib
import hmac
import json
from datetime import datetime

from consumers.alerts.channels.delivery.outcome import Outcome
from consumers.alerts.channels.secrets_of import Told
from consumers.models import Delivery

from .sending import Means, posted

SIGNED_BY = "v1"


def send(told: Told, delivery: Delivery, now: datetime, means: Means) -> Outcome:
    content = json.dumps(delivery.payload, ensure_ascii=False, separators=(",", ":")).encode()
    stamp = str(int(now.timestamp()))
    headers = {
        **told["headers"],
        "Content-Type": "application/json",
        "User-Agent": "Consumerscope",
        "Consumerscope-Delivery": str(delivery.pk),
        "Consumerscope-Timestamp": stamp,
        "Consumerscope-Signature": signature(told["secret"], stamp, content),
    }
    return posted(told["url"], content, headers, means)


def signature(secret: str, stamp: str, content: bytes) -> str:
    """Over the time too, so that a message that was overheard cannot be sent again later."""
    signed = hmac.new(secret.encode(), stamp.encode() + b"." + content, hashlib.sha256)
    return f"{SIGNED_BY}={signed.hexdigest()}"
