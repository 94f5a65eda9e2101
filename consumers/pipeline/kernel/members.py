"""What the answers to "who is in the group?" prove: how many members, and for how long it had none."""

import numpy as np
import pyarrow as pa

from .columns import Columns, arrow, whole
from .keys import first_rows, key_numbers
from .names import GROUP
from .segments import at_rows, seconds
from .sums import Groups
from .texts import Texts


def membership_evidence(membership: pa.Table) -> pa.Table:
    """cluster, group, members, without_members_seconds, empty_since_us, consume_type, message_model.

    `members` is that of the newest full answer. `without_members_seconds` lies between the first and the last of at
    least two full answers in a row without any member, `empty_since_us` is the first of them; null where the newest
    full answer has one.
    """
    columns, numbers = Columns(membership), key_numbers(membership, GROUP)
    groups = Groups(numbers, int(numbers.max(initial=-1)) + 1)
    at, members = columns["taken_at"], columns["members"]
    is_full = columns["complete"] & ~np.isnan(members)
    last_peopled = groups.max(at, is_full & (members > 0))
    empty = is_full & ~(at <= last_peopled[numbers])
    first_empty = groups.min(at, empty)
    without = np.where(groups.count_if(empty) > 1, seconds(groups.max(at, empty) - first_empty), np.nan)
    found = columns.table.select(GROUP).take(pa.array(first_rows(numbers)))
    named = {
        "members": whole(at_rows(members, groups.last(at, members, chosen=is_full))),
        "without_members_seconds": arrow(without),
        "empty_since_us": whole(first_empty),
    }
    for name in ("consume_type", "message_model"):
        texts = Texts.of(columns.table[name])
        named[name] = texts.at(groups.last(at, chosen=texts.is_known)).arrow()
    for name, column in named.items():
        found = found.append_column(name, column)
    return found
