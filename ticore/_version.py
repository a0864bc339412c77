"""The version of this installation: what `ticore.__version__` and `ticore --version` say."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def _installed_version() -> str:
    try:
        return version("ticore")
    except PackageNotFoundError:  # imported from a checkout that is not installed
        return "0+unknown"


__version__ = _installed_version()
