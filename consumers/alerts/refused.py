"""What people asked of alerts and cannot have."""

from collections.abc import Mapping


class AlertRefused(Exception):
    """`errors`: a sentence for each field that is wrong, "" being none of them. str() is all of them."""

    def __init__(self, errors: Mapping[str, str] | str) -> None:
        self.errors = {"": errors} if isinstance(errors, str) else dict(errors)
        super().__init__(" ".join(self.errors.values()))
