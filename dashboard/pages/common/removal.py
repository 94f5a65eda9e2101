"""What takes something away asks first, on a page of its own: opened it says what goes, sent it removes it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _

from consumers.jobs.acts import ActRefused

from .frame import context, form_page, frame_of
from .notices import confirmed


@dataclass(frozen=True)
class Removal:
    """`title` is the question, `effect` what else goes with it, `label` that of the button, `done` what is confirmed
    afterwards. `back` leads to where it is kept, `after` to where it no longer is."""

    title: str
    effect: str
    label: str
    done: str
    back: str
    after: str
    remove: Callable[[], object]


def removal(view: Callable[..., Removal]) -> Callable[..., HttpResponse]:
    """`view` finds what would be removed, and refuses who may not remove it."""

    @form_page
    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        asked = view(request, *args, **kwargs)
        if request.method != "POST":
            return _page(request, asked)
        try:
            with transaction.atomic():
                asked.remove()
        except ActRefused as refusal:
            return _page(request, asked, str(refusal))
        except IntegrityError:
            return _page(request, asked, _("It was changed at the same time, so nothing was removed. Try again."))
        return confirmed(request, asked.after, asked.done)

    return answer


def _page(request: HttpRequest, asked: Removal, refusal: str = "") -> HttpResponse:
    shown = context(frame_of(request, timezone.now()), removal=asked, refusal=refusal)
    return render(request, "common/removal.html", shown, status=409 if refusal else 200)
