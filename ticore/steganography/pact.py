"""The file that `ticore agree` writes: all that a side needs, in one place.

    {"format": "ticore-pact-1", "model": "tiny-en", "key": "9f…", "agreement": {…}}

and, where the model is opened with any, "options", such as {"dtype": "float64"}.
It holds the key, so it must travel and be stored as a key does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike

from ..errors import KeyFormatError, shown
from ..inputs import read_file
from .agreement import Agreement, exact_fields
from .keys import parse_hex_key, sealing_key

FORMAT = "ticore-pact-1"
_MOST_BYTES = 16 << 20  # the prompt may be as long as a context


@dataclass(frozen=True)
class Pact:
    """A key, the settings it is used under, and where the model is found.

    Attributes:
        model_place: what `load_model` opens, such as `tiny-en`. The agreement holds the model's
            digest, so a place that opens another model is noticed.
        key: 32 bytes, also given as hex digits; not shown by repr.
        agreement: the settings.
        options: what `load_model` is given besides, such as dtype.

    Raises:
        KeyFormatError: `key` has another length, or `model_place` is empty.
    """

    model_place: str
    key: bytes = field(repr=False)
    agreement: Agreement
    options: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.model_place:
            raise KeyFormatError("model: expected a place such as tiny-en, found nothing")
        object.__setattr__(self, "key", sealing_key(self.key))

    def dumps(self) -> str:
        """The file's text: ASCII, the same for equal pacts."""
        document: dict[str, object] = {
            "format": FORMAT,
            "model": self.model_place,
            "key": self.key.hex(),
            "agreement": self.agreement.to_dict(),
        }
        if self.options:
            document["options"] = dict(self.options)
        return json.dumps(document, indent=2) + "\n"

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Pact:
        """The pact in the file at `path`, such as `ticore agree` makes.

        Raises:
            FileError: the file cannot be read.
            KeyFormatError: it holds no pact, or one of another format; no text shows the key.
        """
        return cls.loads(read_file(path, _MOST_BYTES), str(path))

    @classmethod
    def loads(cls, text: str | bytes, source: str = "the pact") -> Pact:
        """The inverse of `dumps`.

        Args:
            text: the file's content; bytes in UTF-8.
            source: the file's name, for the error's text.

        Raises:
            KeyFormatError: `text` is no such file, or of another format; no text shows the key.
        """
        document = _parsed(text)
        if document is _NO_JSON:
            raise KeyFormatError(
                f"{source}: expected a pact file, found something that is not JSON; "
                f"make one with: ticore agree"
            )
        # The format comes first: another one may well have other fields.
        found = document.get("format") if isinstance(document, dict) else None
        if not isinstance(document, dict) or found != FORMAT:
            # What does not look like a format may be the key in the wrong place.
            named = found is None or str(found).startswith("ticore-pact-")
            raise KeyFormatError(
                f"{source}: expected a file of the format {FORMAT!r}, found "
                f"{shown(found) if named else 'another one'}; "
                f"make one with: ticore agree"
            )
        names = ("format", "model", "key", "agreement", "options")
        values = exact_fields({"options": {}} | document, names, source)
        model, key, options = values["model"], values["key"], values["options"]
        if not (isinstance(model, str) and model and isinstance(key, str)):
            raise KeyFormatError(
                f"{source}: expected the model and the key as texts, found another type or nothing"
            )
        if not (isinstance(options, dict) and all(isinstance(v, str) for v in options.values())):
            raise KeyFormatError(f"{source}: expected options that are texts, found something else")
        agreement = Agreement.from_dict(values["agreement"], f"{source}: agreement")
        return cls(model, parse_hex_key(key, source), agreement, options)


_NO_JSON = object()


def _parsed(text: str | bytes) -> object:
    """What the JSON says, or _NO_JSON.

    No exception leaves this function: JSON's own carries the whole text, the key with it, and would
    stay attached to whatever is raised while it is handled.
    """
    if not isinstance(text, str | bytes):
        return _NO_JSON
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NO_JSON
