"""What rules look at, from stored rows alone: no broker is asked."""

from .measured import measured

__all__ = ["measured"]
