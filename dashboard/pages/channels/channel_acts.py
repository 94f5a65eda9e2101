"""Tests a channel, or removes it."""

from contextlib import suppress

from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone

from consumers.alerts.edits import remove_channel, send_test
from consumers.alerts.tasks import hand_over_channel
from consumers.jobs.asking import RedisDown
from dashboard.pages.alerts.alert_access import act
from dashboard.pages.common.held_rows import held

from .channel import channel_or_404


@act
def channel_test(request: HttpRequest, channel: int) -> HttpResponse:
    """Where Redis is down the message waits for the next round, as its row says."""
    row = channel_or_404(channel)
    send_test(row, request.user, timezone.now())
    with suppress(RedisDown):
        hand_over_channel(row.pk)
    return HttpResponseRedirect(reverse("channel", args=[row.pk]) + "#messages")


@act
def channel_remove(request: HttpRequest, channel: int) -> HttpResponse:
    with transaction.atomic():
        remove_channel(held(channel_or_404(channel)), request.user, timezone.now())
    return HttpResponseRedirect(reverse("channels"))
