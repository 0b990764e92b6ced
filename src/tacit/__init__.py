"""tacit: publish statistical tables without giving anybody away."""

from tacit.version import __version__

__all__ = ["__version__"]
