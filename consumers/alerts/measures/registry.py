"""The registry of measures: all that the modules of this folder declare as `MEASURES`."""

from importlib import import_module
from pkgutil import iter_modules

from consumers.models import Measure

from .measure_spec import MeasureSpec


def _declared() -> dict[Measure, MeasureSpec]:
    folder = import_module(str(__package__))
    modules = [import_module(f"{__package__}.{one.name}") for one in iter_modules(folder.__path__)]
    found = {spec.code: spec for module in modules for spec in getattr(module, "MEASURES", ())}
    return {code: found[code] for code in Measure}


SPECS = _declared()
