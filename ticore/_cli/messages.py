"""`ticore embed`, `extract`, `keygen` and `agree`: messages in and out of text."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import typer

from .._support.atomic_files import new_folder, require_new_folder
from .._support.checks import require_integer
from ..errors import OutputFileError
from ..keys import Key, format_key, load_key
from ..steganography import Agreement, Steganographer
from ..steganography._openers import TOPICS, Topic
from ..steganography._setup import Compress, Finish, Pad
from . import streams
from .json_errors import prints_errors_as_json
from .options import OUTPUT, Json, NewSecretFile, file_option, file_path, option
from .secrets import hand_out, warn_of_others, warn_of_short
from .settings import SECRET, Settings, shares_settings
from .usage import UsageError, wrong_settings_are_wrong_usage

Agreed = Annotated[
    Path | None,
    file_option(
        "Take key and settings from this file, made by `ticore agree`.", "--agreement", panel=SECRET
    ),
]
KeyFile = Annotated[
    Path | None, file_option("Take the key from this file, made by `ticore keygen`.", panel=SECRET)
]
Password = Annotated[
    bool,
    typer.Option(
        "--password",
        help=f"Ask for a password, or take it from the environment: ${streams.PASSWORD_VARIABLE}.",
        rich_help_panel=SECRET,
    ),
]
FinishOption = Annotated[
    Finish | None,
    option(
        "NAME",
        "Where the text ends: with a sentence that chance picks (sentences), with the first one "
        "after the message (sentence), where the model would end its reply (turn), or right after "
        "the message (none).",
        panel=OUTPUT,
        default="sentences; turn after a conversation",
    ),
]
PadOption = Annotated[
    Pad | None,
    option(
        "NAME",
        "Make the message one of a few sizes long (sizes), or not (none).",
        panel=OUTPUT,
        default="sizes",
    ),
]
CompressOption = Annotated[
    Compress | None,
    option(
        "NAME",
        "How the message is made shorter: deflate, or, where that helps, the model's "
        "probabilities (model).",
        panel=OUTPUT,
        default="deflate; model with compact security",
    ),
]
ShortestOfOption = Annotated[
    int | None,
    option(
        "N",
        "Write N texts and take the shortest, which diverges by log2 of N bits at most.",
        panel=OUTPUT,
        default="1",
    ),
]
TopicOption = Annotated[
    Topic | None,
    option(
        "NAME",
        f"What the text's opening is about, with --openers: {', '.join(TOPICS)}.",
        panel=OUTPUT,
        default="any of them",
    ),
]
MessageFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="MESSAGE",
        parser=file_path,
        help="The file with the message, any bytes; - or nothing means standard input.",
        show_default=False,
    ),
]
TextFiles = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="TEXT",
        parser=file_path,
        help="The file with the text, in UTF-8, or the files with all parts of a message; - or "
        "nothing means standard input.",
        show_default=False,
    ),
]
PartsFolder = Annotated[
    Path | None,
    typer.Option(
        "--parts",
        metavar="FOLDER",
        parser=file_path,
        help="Hide a message of any length in several texts, each a file in this new folder.",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]


_ONE_SECRET = "give one of --agreement, --key-file and --password"
_NO_KEY_IN_AGREEMENT = "the agreement holds no key: give --key-file or --password as well"


@shares_settings
@prints_errors_as_json
def embed(
    *,
    message: MessageFile = None,
    agreement: Agreed = None,
    key_file: KeyFile = None,
    password: Password = False,
    settings: Settings,
    topic: TopicOption = None,
    finish: FinishOption = None,
    pad: PadOption = None,
    compress: CompressOption = None,
    shortest_of: ShortestOfOption = None,
    parts: PartsFolder = None,
    json: Json = False,
) -> None:
    """Hide a message in a text.

    The message is any bytes, from a file or standard input. The text goes to standard output. The
    secret comes from one of --agreement, --key-file and --password. A message that is too long for
    one text takes several (--parts).
    """
    writing = {"finish": finish, "pad": pad, "compress": compress, "shortest_of": shortest_of}
    given = {name: value for name, value in writing.items() if value is not None}
    # Below, what is wrong beside an agreement is taken for the agreement's fault.
    if shortest_of is not None:
        with wrong_settings_are_wrong_usage():
            require_integer("shortest_of", shortest_of, 1)
    stego = _steganographer(settings, key_file, password, agreement, given, writes=True)
    if topic is not None and stego.agreement.openers is None:
        raise UsageError("--topic: expected --openers as well, or an agreement with openers")
    data, _ = streams.read_argument(message, "the message")
    if parts is not None:
        _embed_parts(stego, data, topic, parts, json)
        warn_of_others(key_file or agreement)
        return
    with streams.progress_bar("hiding") as progress:
        written = stego.embed(data, topic=topic, progress=progress)
    if json:
        streams.write_json(
            {
                "text": written.text,
                "tokens": written.token_count,
                "bits": written.bits,
                "bits_per_token": written.bits_per_token,
                "kl_filter": written.kl_filter,
                "seconds": written.seconds,
            }
        )
    else:
        streams.write_line(written.text.encode())
    warn_of_others(key_file or agreement)


def _embed_parts(
    stego: Steganographer, message: bytes, topic: Topic | None, folder: Path, json: bool
) -> None:
    """Write a message's texts to a new folder. Raises OutputFileError."""
    if os.path.lexists(folder):
        raise OutputFileError(
            f"expected --parts to name a new folder, found {folder}; choose another"
        )
    require_new_folder(folder)
    with streams.progress_bar("hiding") as progress:
        written = stego.embed_parts(message, topic=topic, progress=progress)
    names = [f"part-{n}-of-{len(written)}.txt" for n in range(1, len(written) + 1)]
    with new_folder(folder) as made:
        for name, each in zip(names, written, strict=True):
            # A line end after it could merge with the last token.
            (made / name).write_bytes(each.text.encode())
    tokens, bits = (
        sum(getattr(each, name) for each in written) for name in ("token_count", "bits")
    )
    if json:
        files = [str(folder / name) for name in names]
        streams.write_json({"files": files, "tokens": tokens, "bits": bits})
    else:
        streams.note(
            f"ticore: {len(written):,} text{'s' * (len(written) > 1)} of {tokens:,} tokens in "
            f"{folder}"
        )


@shares_settings
@prints_errors_as_json
def extract(
    *,
    texts: TextFiles = None,
    agreement: Agreed = None,
    key_file: KeyFile = None,
    password: Password = False,
    settings: Settings,
    json: Json = False,
) -> None:
    """Read the message in a text.

    The text comes from a file or standard input. The message goes to standard output as it was
    hidden. Secret and settings must be those that the text was written with; otherwise there is an
    error, never a wrong message. What follows the text, such as a signature on a line of its own,
    does no harm (with --finish none line ends alone may follow). Usual changes on the way (wrapped
    lines, other line ends, spaces or quotation marks, text in front) are undone if necessary, and a
    note on standard error says which. A message in several texts (`ticore embed --parts`) is read
    from all their files, in any order.
    """
    stego = _steganographer(settings, key_file, password, agreement)
    files: Sequence[Path | None] = texts or [None]
    received = [streams.decode_text(*streams.read_argument(file, "the text")) for file in files]
    with streams.progress_bar("reading") as progress:
        if len(received) > 1:
            found = stego.extract_parts_pasted(received, progress=progress)
        else:
            found = stego.extract_pasted(received[0], progress=progress)
    if found.undone:
        streams.note(f"ticore: the text was changed on its way; undone: {', '.join(found.undone)}")
    if json:
        message_base64 = base64.b64encode(found.message).decode()
        streams.write_json({"message": readable(found.message), "message_base64": message_base64})
    else:
        streams.write_line(found.message)
    warn_of_others(key_file or agreement)


def keygen(*, output: NewSecretFile = None) -> None:
    """Make a new key.

    With -o FILE it goes to a new file that you alone can read; otherwise to standard output. Bring
    it to the other side in a safe way.
    """
    hand_out(format_key(Key.new()), output)


@shares_settings
def agree(*, settings: Settings, output: NewSecretFile = None) -> None:
    """Make a file with a new key and both sides' settings.

    With -o FILE it goes to a new file that you alone can read; otherwise to standard output. Bring
    it to the other side in a safe way, since it holds the key.
    """
    if settings.top_k == 1:
        raise UsageError("--top-k: expected at least 2: one token leaves no choice to hide bits in")
    key = Key.new()
    agreement = replace(
        settings.steganographer(key=key).agreement,
        key=key,
        model_place=settings.place,
        model_options=settings.options,
    )
    hand_out(agreement.dumps(), output)


def readable(message: bytes) -> str | None:
    """The message as text, or None if it is not UTF-8."""
    try:
        return message.decode()
    except UnicodeDecodeError:
        return None


def _steganographer(
    settings: Settings,
    key_file: Path | None,
    password: bool,
    agreement: Path | None,
    writing: Mapping[str, Any] = MappingProxyType({}),
    writes: bool = False,
) -> Steganographer:
    agreed = None
    if agreement is not None:
        if given := settings.options_given():
            raise UsageError(f"--agreement fixes every setting: leave out {', '.join(given)}")
        agreed = Agreement.load(agreement)
    has_key = agreed is not None and agreed.key is not None
    if has_key + (key_file is not None) + password != 1:
        raise UsageError(_ONE_SECRET if agreed is None or has_key else _NO_KEY_IN_AGREEMENT)
    key = None if key_file is None else load_key(key_file)
    asked = streams.ask_password(twice=writes) if password else None
    if agreed is None:
        stego = settings.steganographer(key=key, password=asked, **writing)
    else:
        model = settings.open_model_of(agreed)
        stego = Steganographer.from_agreement(
            agreed, model=model, key=key, password=asked, **writing
        )
    if writes and asked is not None:
        warn_of_short(asked)
    return stego
