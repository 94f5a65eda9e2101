"""What is asked for rightly and still not done: as things stand, or because nobody is there to do it."""

from typing import Any

from rest_framework import status
from rest_framework.exceptions import APIException


class Refused(APIException):
    """As things stand; the same request may be fine another time. `beside`: more members of the problem document."""

    status_code: int = status.HTTP_409_CONFLICT

    def __init__(self, sentence: str, **beside: Any) -> None:
        super().__init__(sentence)
        self.beside = beside


class NotNow(Refused):
    """Something that it needs does not answer."""

    status_code: int = status.HTTP_503_SERVICE_UNAVAILABLE
