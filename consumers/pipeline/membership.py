"""The columns that name a group, for what Spark still joins by them."""

from .kernel.names import GROUP as GROUP
