"""The folders that the operating system has for the files of each user."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

_NAME = "ticore"


def user_folder(usual: Callable[[str], Path]) -> Path | None:
    """The folder of ticore; None for a user without a home directory, as in some containers.

    Args:
        usual: gives the folder of an application, such as `platformdirs.user_cache_path`.
    """
    try:
        found = usual(_NAME)
    except RuntimeError:
        return None
    return None if found.parts[0] == "~" else found  # so in old versions of platformdirs
