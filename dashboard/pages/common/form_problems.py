"""What is wrong with a form that was sent, for the summary at its top."""

from collections.abc import Mapping


def problems(errors: Mapping[str, str]) -> list[tuple[str, str]]:
    """The id of the field and what is wrong with it; no id where it is of no one field."""
    return [(f"field-{name}" if name else "", sentence) for name, sentence in errors.items()]
