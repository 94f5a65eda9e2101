"""The legend of states: what each means, and what to do about it."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from consumers.vocabulary.states import State
from consumers.words.states import MEANINGS, REMEDIES, STATES
from dashboard.pages.common.access import page
from dashboard.pages.common.frame import context, frame_of


@page
def states(request: HttpRequest) -> HttpResponse:
    lines = [(state, STATES[state], MEANINGS[state], REMEDIES[state]) for state in State]
    return render(request, "common/states.html", context(frame_of(request, timezone.now()), lines=lines))
