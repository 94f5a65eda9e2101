"""How every form of Alerts goes: what was typed is kept, or the form is shown again with what is wrong with it."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from django.db import IntegrityError
from django.http import HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext as _

from consumers.alerts.refused import AlertRefused
from consumers.alerts.rules.refused import RuleRefused
from dashboard.pages.common.held_rows import VERSION

# The fields as they were typed, and a sentence for each that cannot be read.
Wish = tuple[Mapping[str, Any], Mapping[str, str]]
# Of a form that is nothing but a button.
NOTHING_TYPED: Wish = ({}, {})


class Shown(Protocol):
    """The same page, with a sentence for each field that is wrong; "" is none of them."""

    def __call__(self, errors: Mapping[str, str], status: int = 200) -> HttpResponse: ...


def sent(wish: Wish, keep: Callable[[Mapping[str, Any]], str], shown: Shown) -> HttpResponse:
    """`keep` stores the fields and says where to go then. 400 where something typed is wrong, 409 where it is not
    possible as things stand, whatever is typed."""
    fields, errors = wish
    if errors:
        return shown(errors, status=400)
    try:
        address = keep(fields)
    except (AlertRefused, RuleRefused) as refusal:
        return shown(refusal.errors, status=409 if {"", VERSION} & refusal.errors.keys() else 400)
    except IntegrityError:
        # Its checks saw another world than the one that it was to be kept in.
        sentence = _(
            "Somebody else kept one of this name, or removed what it is about, meanwhile: look at what there is."
        )
        return shown({"": sentence}, status=409)
    return HttpResponseRedirect(address)
