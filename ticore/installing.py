"""How to install what is missing: from where this installation itself came.

A hint must not name a project of the package index. ticore need not be there, and then the name is
free for anyone to take.
"""

from __future__ import annotations

import json
from importlib.metadata import Distribution, PackageNotFoundError
from pathlib import Path
from shlex import quote
from urllib.parse import unquote, urlsplit


def how_to_install(extra: str, distribution: Distribution | None = None) -> str:
    """A sentence's end that says how to install an extra.

    Args:
        extra: its name, or several with commas between them.
        distribution: the one that declares it; None: ticore.

    Returns:
        Such as `run: pip install -e '/home/ann/ticore[torch]'`; without a command where it is not
        known where the distribution came from.
    """
    if distribution is None:
        try:
            distribution = Distribution.from_name("ticore")
        except PackageNotFoundError:
            return f"install ticore with its extra {extra!r}, in its checkout: {_checkout(extra)}"
    name = distribution.metadata["Name"] or "ticore"
    source = _source(distribution)
    if source is None:
        return (
            f"install {name} again from where you have it, with its extra {extra!r}; "
            f"in a checkout: {_checkout(extra)}"
        )
    return f"run: pip install {source.format(extra=extra, name=name)}"


def _checkout(extra: str) -> str:
    return f"pip install -e '.[{extra}]'"


def _source(distribution: Distribution) -> str | None:
    """What pip is to be given, with places for name and extra; None where that is not recorded."""
    try:
        record = json.loads(distribution.read_text("direct_url.json") or "")
        url, details = record["url"], record.get("dir_info")
        if not isinstance(url, str):
            return None
        if details is not None:
            folder = unquote(urlsplit(url).path)
            if not Path(folder).is_dir():
                return None
            flag = "-e " if details.get("editable") else ""
            return flag + quote(f"{_escaped(folder)}[{{extra}}]")
        if "vcs_info" in record:
            url = f"{record['vcs_info']['vcs']}+{url}"
        return quote(f"{{name}}[{{extra}}] @ {_escaped(url)}")
    except (ValueError, KeyError, TypeError, AttributeError):
        return None  # no record, or one of another form: then nothing is claimed


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
