"""x"""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request


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
