"""The actor that holds the members which stay, and the auditors, who leave after a while. Run by the story."""

import signal
import time

from dashboard.demo import shop

from .actor_arguments import begin_actor
from .consumer import Consumer
from .membership import Handler, Membership, Message


def take(_: Message) -> bool:
    return True


def send_email(message: Message) -> bool:
    return shop.is_sent(message.keys, message.reconsume_times)


def bill_slowly(_: Message) -> bool:
    time.sleep(shop.BILLING_SECONDS)
    return True


HANDLERS: dict[str, Handler] = {"billing": bill_slowly, "email": send_email, "inventory": shop.is_booked}


def join(namesrv: str, membership: Membership) -> Consumer:
    return Consumer(namesrv, membership, HANDLERS.get(membership.group, take))


def main() -> None:
    arguments, answers = begin_actor()
    # Kept by name: a consumer that nobody holds would be collected, and its handler with it.
    staying = [join(arguments.namesrv, membership) for membership in shop.STEADY]
    auditors = [join(arguments.namesrv, membership) for membership in shop.AUDIT]
    print("ready", file=answers, flush=True)
    time.sleep(shop.AUDIT_SECONDS)
    for auditor in auditors:
        auditor.shutdown()
    while staying:
        signal.pause()


if __name__ == "__main__":
    main()
