"""What happens to each group of the fleet. All groups live through their scripts at the same time."""

from tests.consumers.fleet.changes import Change, Script, joins, leaves, member, members, topic_of

JOINED, GONE = frozenset({"joined"}), frozenset({"gone"})


def scale() -> Script:
    group = "fleet-scale"
    return Script(group, 8, members(group, 1, 2), (joins(group, 3, 4, 5, total=5), leaves(group, 1, 4, total=3)))


def comings() -> Script:
    """One joins and leaves; another joins in a process of its own, and is killed with it."""
    group = "fleet-comings"
    victim = member(group, 7)
    return Script(
        group,
        8,
        members(group, 1, 2),
        (
            joins(group, 3, total=3),
            leaves(group, 3, total=2),
            Change("joins, to be killed", lambda crew: crew.killed.start(victim), JOINED, 3),
            Change("is killed", lambda crew: crew.killed.kill(), GONE, 2),
        ),
    )


def killed_in_order() -> Script:
    """The killed one's queues stay locked at the broker for up to a minute."""
    group = "fleet-order-kill"
    return Script(
        group,
        4,
        members(group, 1, orderly=True),
        (Change("is killed", lambda crew: crew.killed_in_order.kill(), GONE, 1),),
        in_killed_in_order=members(group, 8, orderly=True),
    )


def restart() -> Script:
    group = "fleet-restart"
    second = member(group, 2)
    change = Change("restarts", lambda crew: crew.staying.restart(second), frozenset({"restarted"}), 2)
    return Script(group, 4, members(group, 1, 2), (change,))


def queue_count() -> Script:
    group = "fleet-queues"
    grow = Change(
        "its topic gets 8 queues instead of 4",
        lambda crew: crew.admin.create_topic(topic_of(group), 8),
        frozenset({"queue_count"}),
        2,
    )
    return Script(group, 4, members(group, 1, 2, route_milliseconds=2000), (grow,))


def strategy() -> Script:
    group = "fleet-strategy"
    odd = joins(group, 3, total=3, shares_all=False, strategy="AllocateMessageQueueAveragelyByCircle")
    return Script(
        group,
        8,
        members(group, 1, 2),
        (odd,),
        frozenset({"strategies_differ"}),
    )


def subscription() -> Script:
    group = "fleet-tags"
    odd = joins(group, 3, total=3, tags="Blue")
    return Script(group, 8, members(group, 1, 2, tags="Red"), (odd,), frozenset({"subscriptions_differ"}))


def order() -> Script:
    group = "fleet-order"
    odd = joins(group, 3, total=3, orderly=True)
    return Script(group, 8, members(group, 1, 2), (odd,), frozenset({"orderly_and_concurrent"}))


def twins() -> Script:
    """Both take what is theirs at the first place of the id in the list: the first half."""
    group = "fleet-twins"
    again = member(group, 1)
    change = Change("a second process takes its id", lambda crew: crew.twin.start(again), JOINED, 1, shares_all=False)
    return Script(group, 4, members(group, 1), (change,), frozenset({"duplicate_client_ids"}))


def crowd() -> Script:
    group = "fleet-crowd"
    return Script(group, 2, members(group, 1, 2), (joins(group, 3, total=3),), frozenset({"idle_members"}))


def quiet() -> Script:
    return Script("fleet-quiet", 8, members("fleet-quiet", 1, 2, 3))


SCRIPTS = (
    scale(),
    comings(),
    killed_in_order(),
    restart(),
    queue_count(),
    strategy(),
    subscription(),
    order(),
    twins(),
    crowd(),
    quiet(),
)
