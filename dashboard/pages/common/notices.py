"""Notices: a sentence that the next page shows once, of what was done, or why nothing was."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect


def notices_of(request: HttpRequest) -> dict[str, Any]:
    """Context of every template. Messages by Django's own name are RocketMQ's here."""
    return {"notices": messages.get_messages(request)}


def confirmed(request: HttpRequest, address: str, sentence: str) -> HttpResponse:
    """Leads to a page that says what was done."""
    messages.success(request, sentence)
    return HttpResponseRedirect(address)
