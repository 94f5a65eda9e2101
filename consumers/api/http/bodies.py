"""The body of a request: JSON that says each thing once, no deeper than anything here is asked for, and no more."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.parsers import JSONParser
from rest_framework.request import Request
from rest_framework.utils.json import strict_constant

# Well below what Python's own stack takes, and above what any resource has.
DEEPEST = 20
# As many dead letters as are kept of a group; a longer list costs seconds to check, entry by entry.
LONGEST = 20_000


class JsonBody(JSONParser):
    """One of two values of the same name would be dropped without a word, so that it is refused."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None) -> Any:
        """A charset that the header names has no meaning for JSON (RFC 8259, 11)."""
        try:
            document = json.loads(stream.read(), parse_constant=strict_constant, object_pairs_hook=_named_once)
        except RecursionError:
            raise _too_deep() from None
        except ValueError as error:
            raise ParseError(f"The body is not JSON: {error}") from None
        if _is_too_deep(document):
            raise _too_deep()
        if _is_too_long(document):
            raise ParseError(f"A list or object of the body has more than {LONGEST:,} entries: ask for less at once.")
        if not all(map(_can_be_kept, _texts(document))):
            sentence = "A text in it holds a zero byte or half of a character, which no database keeps."
            raise ValidationError({"non_field_errors": [sentence]})
        return document


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        [(twice, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise ParseError(f"The body has {json.dumps(twice)} twice: say it once.")
    return document


def _is_too_deep(document: Any) -> bool:
    level = [document]
    for _ in range(DEEPEST):
        inside = [one.values() if isinstance(one, dict) else one for one in level if isinstance(one, (dict, list))]
        level = [value for values in inside for value in values]
    return any(isinstance(one, (dict, list)) for one in level)


def _texts(document: Any) -> Iterator[str]:
    left = [document]
    while left:
        value = left.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            left += [*value, *value.values()]
        elif isinstance(value, list):
            left += value


def _can_be_kept(text: str) -> bool:
    """JSON can escape what UTF-8 cannot write."""
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _is_too_long(document: Any) -> bool:
    """Of a body that is not too deep."""
    if not isinstance(document, (dict, list)):
        return False
    return len(document) > LONGEST or any(
        map(_is_too_long, document.values() if isinstance(document, dict) else document)
    )


def _too_deep() -> ParseError:
    return ParseError(f"The body is nested more than {DEEPEST} levels deep.")


class Strict(serializers.Serializer[Any]):
    """A misspelt name must not widen what is reset."""

    def to_internal_value(self, data: Any) -> Any:
        unknown = sorted(set(data) - set(self.fields), key=str) if isinstance(data, dict) else []
        if unknown:
            sentence = f"This field is not known. Allowed are: {', '.join(sorted(self.fields))}."
            raise serializers.ValidationError({str(name): [sentence] for name in unknown})
        return super().to_internal_value(data)


class NothingSerializer(Strict):
    """A body that says nothing."""


def said(serializer: type[serializers.Serializer[Any]], request: Request, *, partial: bool = False) -> dict[str, Any]:
    """What a request says; `partial`: any of it. Raises ValidationError."""
    body = serializer(data=request.data, partial=partial)
    body.is_valid(raise_exception=True)
    return dict(body.validated_data)
