"""Packages of an extra, and how to install them: from where this installation came from.

A hint must not name a project of the package index. ticore may be absent there, and then anybody
can register the name.
"""

from __future__ import annotations

import json
import re
from importlib import import_module
from importlib.metadata import Distribution, PackageNotFoundError
from pathlib import Path
from shlex import quote
from types import ModuleType
from urllib.parse import unquote, urlsplit

from ..errors import MissingExtraError


def require_module(module: str, extra: str, purpose: str) -> ModuleType:
    """Import a module that comes with an extra, or that needs what comes with it.

    Args:
        module: its name.
        extra: the extra of ticore.
        purpose: what needs it, for the error.

    Raises:
        MissingExtraError: a package is not installed. The error says how to install it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise missing_extra(error.name or module, extra, purpose) from error


def missing_extra(package: str, extra: str, purpose: str) -> MissingExtraError:
    """The error that `purpose` needs a package of an extra."""
    return MissingExtraError(
        f"{purpose} needs the package {package!r}, which is not installed; {how_to_install(extra)}"
    )


def how_to_install(extra: str, distribution: Distribution | None = None) -> str:
    """Say how to install an extra, as the end of a sentence.

    Args:
        extra: The name of the extra, or several with commas between them.
        distribution: What declares the extra; None: ticore.

    Returns:
        Such as `run: pip install -e '/home/ann/ticore[torch]'`. The command names where the
        distribution was installed from; where that is not recorded or is gone, it names the
        packages of the extra: `run: pip install 'torch>=2.11' 'transformers>=5.5'`.
    """
    if distribution is None:
        try:
            distribution = Distribution.from_name("ticore")
        except PackageNotFoundError:
            return f"install ticore with its extra {extra!r}, in its checkout: {_checkout(extra)}"
    name = distribution.metadata["Name"] or "ticore"
    source = _source(distribution, f"{name}[{extra}]", extra)
    if source is None:
        source = " ".join(map(quote, _packages(distribution, extra.split(","))))
    if source:
        return f"run: pip install {source}"
    return (
        f"install {name} again from where you have it, with its extra {extra!r}; "
        f"in a checkout: {_checkout(extra)}"
    )


def _checkout(extra: str) -> str:
    return f"pip install -e '.[{extra}]'"


def _source(distribution: Distribution, requirement: str, extra: str) -> str | None:
    """What pip is to be given; None where that is not recorded, or is not there any more."""
    try:
        record = json.loads(distribution.read_text("direct_url.json") or "")
        url, details = record["url"], record.get("dir_info")
        if not isinstance(url, str):
            return None
        place = urlsplit(url)
        path = unquote(place.path)
        if details is not None:
            if not Path(path).is_dir():
                return None
            flag = "-e " if details.get("editable") else ""
            return flag + quote(f"{path}[{extra}]")
        if "vcs_info" in record:
            url = f"{record['vcs_info']['vcs']}+{url}"
        elif place.scheme == "file" and not Path(path).is_file():
            return None  # a wheel that was made, installed and deleted
        return quote(f"{requirement} @ {url}")
    except (ValueError, KeyError, TypeError, AttributeError):
        return None  # no record, or a record of another form


def _packages(distribution: Distribution, extras: list[str]) -> list[str]:
    """What the extras add, as requirements without their markers, such as `torch>=2.11`."""
    found = []
    for line in distribution.requires or []:
        requirement, _, marker = line.partition(";")
        asked = re.search(r"""\bextra\s*==\s*["']([^"']*)["']""", marker)
        if asked and asked[1] in extras:
            found.append(requirement.strip())
    return found
