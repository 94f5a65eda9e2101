"""Admin pages: first those that change something, then all that the poll, the pipeline and the pages write."""

from . import changed, fields, names, read_only  # noqa: F401 - each registers its pages, in the admin's index's order
