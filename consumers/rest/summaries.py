"""What each operation of the OpenAPI document does, in one line: lists of operations show it beside the address."""

import re

from drf_spectacular.openapi import AutoSchema

# A sentence, or the part of it before a colon or semicolon.
OPENING = re.compile(r".+?(?=[.;:](?:\s|$)|$)", re.DOTALL)


class SummarizedSchema(AutoSchema):
    def get_summary(self) -> str | None:
        return opening(self.get_description())


def opening(description: str) -> str | None:
    found = OPENING.match(description.strip())
    return " ".join(found[0].split()) if found else None
