"""Whose intervals a reading may end: it spoke of itself, or a whole list of members lacks it. Silence is no loss."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from consumers.polling.reading import MembersReading

from .client_rows import ClientKey


@dataclass(frozen=True)
class LetGo:
    """By group ids. `spoke`: whose own word the interval would be in."""

    spoke: Collection[ClientKey]
    members: Mapping[int, frozenset[str]]

    @classmethod
    def of(cls, groups: Mapping[str, int], reading: MembersReading, spoke: Collection[ClientKey]) -> "LetGo":
        members = {
            groups[answer.group]: frozenset(member.client_id for member in answer.members)
            for answer in reading.groups
            if answer.complete and answer.group in groups
        }
        return cls(spoke, members)

    def says(self, key: ClientKey) -> bool:
        group, client_id = key
        return key in self.spoke or (group in self.members and client_id not in self.members[group])
