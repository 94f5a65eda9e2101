"""Brings the catalogue up to date with the code, compiles it, and prints what lacks a translation."""

import sys

from . import mo, po
from .extracted import extracted
from .files import MO, PO


def main() -> int:
    known = po.read(PO)
    messages = extracted()
    texts = {one.key: one.text for one in known.values() if not one.is_fuzzy}
    PO.write_text(po.written(messages.values(), texts))
    MO.write_bytes(mo.compiled(po.read(PO).values()))
    missing = [name for name in messages if not texts.get(name)]
    dropped = len(known.keys() - messages.keys() - {""})
    print(f"{len(messages)} messages, {len(missing)} without a translation, {dropped} dropped")
    for name in missing:
        print(f"  {name!r} ({', '.join(messages[name].files)})")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
