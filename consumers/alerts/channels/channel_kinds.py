"""The registry of channel kinds: each code names the module in `kinds/` that declares it."""

from importlib import import_module

from consumers.models import ChannelKind

from .kinds.channel_kind import ChannelKindSpec

CHANNEL_KINDS: dict[ChannelKind, ChannelKindSpec] = {
    code: import_module(f"{__package__}.kinds.{code}").KIND for code in ChannelKind
}


def kind_of(code: str) -> ChannelKindSpec:
    return CHANNEL_KINDS[ChannelKind(code)]
