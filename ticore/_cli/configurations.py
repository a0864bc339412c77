"""The file of `ticore detect --config` with many configurations: a JSON list.

Beside what `WatermarkDetector.any` takes, an entry may name files, which stand beside the list or
at full paths: `"key_file": "key.txt"` or `"agreement": "mark.json"`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._support.visible import visible
from ..errors import CredentialError, FileError, SettingsError, TicoreError, shown
from ..keys import load_key
from ..watermarking import AnyWatermarkDetector, WatermarkAgreement, WatermarkDetector
from . import streams
from .option_names import option_of
from .usage import UsageError
from .watermark_options import WatermarkOptions


@dataclass(frozen=True)
class ListedConfigurations:
    """What a list holds.

    Attributes:
        entries: what `WatermarkDetector.any` takes.
        secret_files: the files with the keys: those that entries name, and the list itself if it
            holds keys.
    """

    entries: list[Any]
    secret_files: tuple[Path, ...]


def read_list(options: WatermarkOptions) -> ListedConfigurations | None:
    """The entries of the --config file, if it is a list and not another engine's settings.

    Raises:
        UsageError: options were given, too, which each entry states for itself.
        FileError, CredentialError: a file cannot be read, or holds something else.
    """
    others = options.agreement, options.key_file, options.scheme
    if options.config is None or any(other is not None for other in others):
        return None
    what = "a JSON list of configurations, or an object with another engine's settings"
    found = streams.read_json_file(options.config, what)
    if isinstance(found, dict):
        return None
    if not isinstance(found, list):
        raise FileError(
            f"{options.config}: expected a JSON list of configurations, or an object with the "
            f"settings of another engine, found {shown(found)}"
        )
    if wrong := [option_of(name) for name in options.settings()]:
        raise UsageError(
            f"{', '.join(wrong)}: each configuration in {visible(str(options.config))} "
            f"states this itself; put it there"
        )
    opened = [_opened(entry, number, options.config) for number, entry in enumerate(found, 1)]
    entries, files = [entry for entry, _ in opened], [file for _, file in opened if file]
    return ListedConfigurations(entries, tuple(dict.fromkeys(files)))


def open_detector(
    options: WatermarkOptions, listed: ListedConfigurations, detector_settings: dict[str, Any]
) -> AnyWatermarkDetector:
    """The detector of all entries.

    Raises:
        FileError: an entry is wrong; the error says which, and why.
        TicoreError: as `load_tokenizer`.
    """
    tokenizer = options.open_tokenizer()
    try:
        return WatermarkDetector.any(
            tokenizer, listed.entries, tokenizer_place=options.place, **detector_settings
        )
    except (SettingsError, CredentialError) as error:
        raise FileError(f"{options.config}: {error}") from error


def _opened(entry: Any, number: int, file: Path) -> tuple[Any, Path | None]:
    """An entry with the content of the file that it names, and the file that has its key."""
    if not isinstance(entry, dict):
        return entry, None
    names = [name for name in ("key_file", "agreement") if name in entry]
    where = f"{file}: configuration {number}"
    if len(names) > 1 or (names and "key" in entry):
        raise FileError(f"{where}: expected one of key, key_file and agreement; leave out others")
    if not names:
        return entry, file
    (name,) = names
    if not isinstance(entry[name], str):
        raise FileError(f"{where}: {name}: expected the name of a file, as a text")
    path = file.parent / entry[name]
    try:
        if name == "key_file":
            rest = {setting: value for setting, value in entry.items() if setting != name}
            return rest | {"key": bytes(load_key(path))}, path
        if others := sorted(entry.keys() - {name}):
            raise FileError(f"the agreement states {', '.join(others)} already; leave it out")
        return WatermarkAgreement.load(path), path
    except TicoreError as error:
        raise FileError(f"{where}: {error}") from error
