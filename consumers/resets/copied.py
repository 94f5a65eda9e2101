"""Where another group of the same cluster stands, asked of its masters queue by queue."""

import asyncio
from collections.abc import Collection

from django.utils.translation import gettext as _

from consumers.errands.ports import Ports
from consumers.models import ConsumerGroup
from consumers.rocketmq.errors import RocketMQError
from consumers.vocabulary.groups import BROADCASTING, POPPING

from .planning.masters import Masters
from .wish import QueueKey, ResetRefused


def offsets_of(source: str, keys: Collection[QueueKey], ports: Ports) -> dict[QueueKey, int | str]:
    """By queue: the offset, or why there is none."""
    return ports.wire.run(_asked(source, sorted(keys), ports))


def check_source(cluster: str, source: str) -> tuple[str, ...]:
    """Warnings. Raises ResetRefused for a group whose progress is not what brokers hold."""
    group = ConsumerGroup.objects.filter(cluster__name=cluster, name=source).first()
    if group is None:
        words = {"group": source, "cluster": cluster}
        raise ResetRefused(_("There is no group %(group)s in %(cluster)s: choose one that is listed.") % words)
    if group.message_model == BROADCASTING:
        raise ResetRefused(
            _(
                "%s is broadcasting: each of its members goes on from its own file, so that there is no offset to "
                "copy. Give the offsets yourself."
            )
            % source
        )
    if group.outside_store is not None:
        raise ResetRefused(
            _(
                "%(group)s keeps its offsets outside of RocketMQ (%(store)s), so that there is none to copy. Give the "
                "offsets yourself."
            )
            % {"group": source, "store": group.outside_store}
        )
    warnings = [_("Where %s stands is taken as it was at the time of the plan; it may go on meanwhile.") % source]
    if group.consume_type == POPPING:
        warnings.append(
            _("%s pops: its offsets pass messages that it has not acknowledged; they are skipped.") % source
        )
    return tuple(warnings)


async def _asked(source: str, keys: list[QueueKey], ports: Ports) -> dict[QueueKey, int | str]:
    masters = Masters(ports)
    return dict(zip(keys, await asyncio.gather(*(_offset(masters, source, key) for key in keys)), strict=True))


async def _offset(masters: Masters, source: str, key: QueueKey) -> int | str:
    master = masters.get(key.broker)
    if master is None:
        return _("No master of its broker is known: it is down, or only its slave is up.")
    try:
        offset = await master.ask(
            lambda admin, within: admin.consumer_offset(source, key.topic, key.queue_id, deadline_seconds=within)
        )
    except RocketMQError as error:
        return _("Where %(group)s stands could not be read: %(error)s") % {"group": source, "error": error}
    return _("%s has committed nothing there.") % source if offset is None else offset
