"""Which files a scan reads, and which it writes: files, folders and patterns.

rows.jsonl            writes rows.detected.jsonl
shards/               all its files, each with an output beside it
'shards/*.parquet'    a pattern that the shell has left as it is
-o out/               all outputs in this folder, by the names of their sources
"""

from __future__ import annotations

import glob
import os
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from .._support.input_files import unreadable
from .._support.visible import visible
from ..corpus import default_output
from ..corpus._formats import ENDINGS_SAID, has_ending, stem
from ..errors import InputFileError, OutputFileError
from .usage import UsageError

_OF_SCANS = (".detected", ".drift")  # at the end of an output's name, before its ending


@dataclass(frozen=True)
class Paired:
    """A source and its output."""

    source: Path
    output: Path


def paired(
    given: Sequence[Path], output: str | Path | None, what: str = "detected"
) -> list[Paired]:
    """The sources that are meant, each with its output. Folders for outputs are made.

    Args:
        given: files, folders or patterns; what several of them name is one source. A folder means
            all files with the right endings in it, at any depth, except outputs that an earlier
            scan of it has put there.
        output: a file, for one source; a folder, which exists, has no ending or a slash at its end;
            or None.
        what: stands in the names of outputs beside their sources.

    Raises:
        UsageError: one output for several sources, two sources with one output, or an output
            without a name.
        FileError: a folder or pattern has no file, or a folder cannot be read or made.
    """
    if output == "":  # of a variable that is not set; to Path it is the current folder
        raise UsageError("--output: expected the name of a file or folder, found an empty one")
    named: dict[Path, tuple[Path, Path]] = {}  # a file that is meant twice is scanned once
    for source, name in (pair for path in given for pair in _sources(path)):
        meant = source.resolve()
        if meant not in named or os.path.islink(named[meant][0]):  # outputs stand beside the file
            named[meant] = (source, name)
    found = [*named.values()]
    if output is None:
        return [Paired(source, default_output(source, what)) for source, _ in found]
    has_slash = str(output).endswith(("/", os.sep))
    output = Path(output)
    is_folder = has_slash or os.path.isdir(output) or not output.suffix
    found = _without_outputs(found, output, is_folder)
    if not is_folder:
        if len(found) > 1:
            raise UsageError(
                "give one FILE with --output, or several without; or name a folder, without an "
                "ending or with a slash at its end"
            )
        return [Paired(source, output) for source, _ in found]
    pairs: dict[Path, Path] = {}
    for source, name in found:
        there = output / name
        if there in pairs:
            raise UsageError(
                f"--output: expected sources with different names, found {name} twice; scan them "
                f"into different folders"
            )
        pairs[there] = source
    try:
        for there in pairs:
            there.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputFileError(f"cannot write {output}: {error.strerror or error}") from error
    return [Paired(source, there) for there, source in pairs.items()]


def _sources(path: Path) -> Iterator[tuple[Path, Path]]:
    """Each source, and its name below the folder that was given."""
    # Those of Path raise errors, such as for a folder that may not be entered: what opens the file
    # later says it in words.
    if os.path.isdir(path):
        files = [file for file in _files_below(path) if not stem(file).endswith(_OF_SCANS)]
        _require(files, path)
        yield from ((file, file.relative_to(path)) for file in files)
    elif glob.has_magic(str(path)) and not os.path.exists(path):
        matches = sorted(Path(name) for name in glob.glob(str(path), recursive=True))
        files = [file for file in matches if not stem(file).endswith(_OF_SCANS)]
        _require(files, path)
        for file in files:
            yield from _sources(file)
    else:
        yield path, Path(path.name)


def _files_below(folder: Path) -> list[Path]:
    """All files with the right endings, at any depth. Nothing is left out in silence.

    Links to folders are followed, each folder once. A link to nothing is among the files, so that
    opening it says what is wrong. Raises InputFileError: a folder cannot be read.
    """
    found, seen = list[Path](), set[str]()
    # Links last: a file is named by the folder that it is in, and not by a link to that.
    waiting = deque([str(folder)])
    while waiting:
        for place, folders, names in os.walk(waiting.popleft(), onerror=_refuse):
            real = os.path.realpath(place)
            if real in seen:
                folders.clear()
                continue
            seen.add(real)
            found += filter(has_ending, (Path(place, name) for name in names))
            below = (os.path.join(place, name) for name in sorted(folders))
            waiting += filter(os.path.islink, below)
    return sorted(found)


def _refuse(error: OSError) -> NoReturn:
    raise unreadable(visible(str(error.filename)), error) from error


def _without_outputs(
    found: Sequence[tuple[Path, Path]], output: Path, is_folder: bool
) -> list[tuple[Path, Path]]:
    """What is left without sources that are the output of another: an earlier scan wrote them."""
    written: dict[Path, set[Path]] = {}
    for source, name in found:
        there = output / name if is_folder else output
        written.setdefault(there.resolve(), set()).add(source)
    return [
        (source, name)
        for source, name in found
        if written.get(source.resolve(), {source}) == {source}
    ]


def _require(files: Sequence[Path], path: Path) -> None:
    if not files:
        raise InputFileError(
            f"{visible(str(path))}: expected files that end in {ENDINGS_SAID}, found none"
        )
