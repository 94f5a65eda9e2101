"""Names as files hold them. A JSON text may hold characters that no name, database or Parquet file can."""


def readable_name(value: object) -> str | None:
    """None where it is no text, empty, or holds what cannot be shown."""
    return value if isinstance(value, str) and value and value.isprintable() else None


def shown(value: object) -> str:
    """A key in a sentence: as it stands where that can be shown, else escaped."""
    return value if isinstance(value, str) and value.isprintable() else ascii(value)
