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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, NoReturn

from .._support.input_files import unreadable
from .._support.visible import visible
from ..corpus import default_output
from ..corpus._formats import ENDINGS_SAID, has_ending, is_output, stem
from ..errors import InputFileError, OutputFileError
from .usage import UsageError

_OF_SCANS = (".detected", ".drift")  # at the end of an output's name, before its ending


@dataclass(frozen=True)
class Paired:
    """A source and its output."""

    source: Path
    output: Path


class _Found(NamedTuple):
    """A source.

    Attributes:
        path: of the file.
        name: below the folder that was given.
        is_named: whether it was given itself, and not a folder or a pattern that has it.
    """

    path: Path
    name: Path
    is_named: bool


def paired(
    given: Sequence[Path],
    output: str | Path | None,
    added: Sequence[str],
    what: str = "detected",
) -> list[Paired]:
    """The sources that are meant, each with its output. Folders for outputs are made.

    Args:
        given: files, folders or patterns; what several of them name is one source. A folder means
            all files with the right endings in it, at any depth, except outputs that an earlier
            scan of it has put there.
        output: a file, for one source; a folder, which exists, has no ending or a slash at its end;
            or None.
        added: the columns that an output has beside those of its source.
        what: stands in the names of outputs beside their sources.

    Raises:
        UsageError: one output for several sources, two sources with one output, an output
            without a name, or one that would take the place of another source.
        FileError: a folder or pattern has no file, or a folder cannot be read or made.
    """
    if output == "":  # of a variable that is not set; to Path it is the current folder
        raise UsageError("--output: expected the name of a file or folder, found an empty one")
    found = _once_each(source for path in given for source in _sources(path))
    if output is None:
        found = _without_outputs(found, [default_output(each.path, what) for each in found], added)
        return [Paired(each.path, default_output(each.path, what)) for each in found]
    has_slash = str(output).endswith(("/", os.sep))
    output = Path(output)
    is_folder = has_slash or os.path.isdir(output) or not output.suffix
    if is_folder and os.path.exists(output) and not os.path.isdir(output):
        raise UsageError(
            f"--output: expected a folder, or a file that ends in {ENDINGS_SAID}, found "
            f"{visible(str(output))}"
        )
    outputs = [output / each.name if is_folder else output for each in found]
    found = _without_outputs(found, outputs, added)
    if not is_folder:
        if len(found) > 1:
            raise UsageError(
                "give one FILE with --output, or several without; or name a folder, without an "
                "ending or with a slash at its end"
            )
        return [Paired(each.path, output) for each in found]
    pairs: dict[Path, Path] = {}
    for each in found:
        there = output / each.name
        if there in pairs:
            raise UsageError(
                f"--output: expected sources with different names, found {each.name} twice; scan "
                f"them into different folders"
            )
        pairs[there] = each.path
    try:
        for there in pairs:
            there.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputFileError(f"cannot write {output}: {error.strerror or error}") from error
    return [Paired(source, there) for there, source in pairs.items()]


def _once_each(sources: Iterable[_Found]) -> list[_Found]:
    """The sources without those that are meant a second time."""
    kept: dict[Path, _Found] = {}
    for each in sources:
        meant = each.path.resolve()
        before = kept.get(meant, each)
        # Outputs stand beside the file, and not beside a link to it.
        better = each if os.path.islink(before.path) else before
        kept[meant] = better._replace(is_named=before.is_named or each.is_named)
    return [*kept.values()]


def _sources(path: Path) -> Iterator[_Found]:
    """What is meant by a file, a folder or a pattern."""
    # Those of Path raise errors, such as for a folder that may not be entered: what opens the file
    # later says it in words.
    if os.path.isdir(path):
        files = [file for file in _files_below(path) if not stem(file).endswith(_OF_SCANS)]
        _require(files, path)
        yield from (_Found(file, file.relative_to(path), is_named=False) for file in files)
    elif glob.has_magic(str(path)) and not os.path.exists(path):
        matches = sorted(Path(name) for name in glob.glob(str(path), recursive=True))
        files = [file for file in matches if not stem(file).endswith(_OF_SCANS)]
        _require(files, path)
        for file in files:
            yield from (each._replace(is_named=False) for each in _sources(file))
    else:
        yield _Found(path, Path(path.name), is_named=True)


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
    found: Sequence[_Found], outputs: Sequence[Path], added: Sequence[str]
) -> list[_Found]:
    """The sources without outputs that an earlier scan has put among them.

    Raises:
        UsageError: an output would take the place of another source, which no scan has written.
    """
    written: dict[Path, Path] = {}  # each output, and a source that it is not itself
    for source, output in zip(found, outputs, strict=True):
        if source.path.resolve() != (there := output.resolve()):
            written[there] = source.path
    left = list[_Found]()
    for each in found:
        other = written.get(each.path.resolve())
        if other is None:
            left.append(each)
        elif each.is_named or not is_output(each.path, added):
            raise UsageError(
                f"expected outputs that take the place of no source, found "
                f"{visible(str(each.path))}, which the output of {visible(str(other))} would "
                f"replace; leave it out, or give --output a folder without sources"
            )
    return left


def _require(files: Sequence[Path], path: Path) -> None:
    if not files:
        raise InputFileError(
            f"{visible(str(path))}: expected files that end in {ENDINGS_SAID}, found none"
        )
