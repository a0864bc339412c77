"""What writer and reader must have in common, and its digest.

Every setting that shapes a pool of candidates is a field here. The digest is authenticated with
the message, so that two sides that differ in any field get an error and never a wrong message.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import get_args

from ..candidates import PoolSettings
from ..consistency import View
from ..errors import KeyFormatError, SettingsError, shown
from .numerics import Numerics

# Changes whenever the meaning of the fields does: an old digest then never equals a new one.
_DIGEST_DOMAIN = b"ticore/agreement/1\n"
# Fields that came later are left out where they say what was true before, so that texts and files
# from then can still be read.
_LATER = {"numerics": "same-stack"}
_MOST_PORTABLE_GRID_BITS = 10  # a finer grid leaves hardly a text that survives the tolerance


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Every setting that shapes a pool. The two sides agree exactly if the digests are equal.

    Attributes:
        model: digest of the model.
        tokenizer: digest of the tokenizer.
        prompt: the text that the model continues.
        view: what the reader retokenises, `whole` (prompt and continuation) or `continuation`.
        mode: which lists of tokens count as consistent, such as `prefix`.
        temperature, top_k, top_p, weight_bits, grid_bits: see `ticore.PoolSettings`.
        codec: name of the codec.
        disambiguation: name of the disambiguation.
        numerics: how alike the two sides compute, `same-stack` or `portable`; see
            `ticore.steganography.numerics`.

    Raises:
        SettingsError: a field is of another type or out of range. Names other than the view's are
            only checked not to be empty: their registries know which there are.
    """

    model: str
    tokenizer: str
    prompt: str
    view: str
    mode: str
    temperature: float
    top_k: int | None
    top_p: float
    weight_bits: int
    grid_bits: int
    codec: str
    disambiguation: str
    numerics: Numerics = "same-stack"

    def __post_init__(self) -> None:
        for name in ("model", "tokenizer", "mode", "codec", "disambiguation"):
            value = getattr(self, name)
            _expect(isinstance(value, str) and value != "", name, "a non-empty text", value)
        _expect(isinstance(self.prompt, str), "prompt", "a text", self.prompt)
        views = get_args(View)
        _expect(self.view in views, "view", f"one of {', '.join(views)}", self.view)

        known = get_args(Numerics)
        _expect(self.numerics in known, "numerics", f"one of {', '.join(known)}", self.numerics)
        if self.numerics == "portable":
            most = _MOST_PORTABLE_GRID_BITS
            fits = self.grid_bits <= most
            _expect(fits, "grid_bits", f"at most {most} where numerics is portable", self.grid_bits)

        # 1 and 1.0 are the same setting, and must have the same digest.
        object.__setattr__(self, "temperature", self.pool.temperature)
        object.__setattr__(self, "top_p", self.pool.top_p)

    @property
    def pool(self) -> PoolSettings:
        """The fields that shape a step's candidates."""
        return PoolSettings(
            temperature=self.temperature,
            top_k=self.top_k,
            top_p=self.top_p,
            grid_bits=self.grid_bits,
            weight_bits=self.weight_bits,
        )

    def digest(self) -> bytes:
        """SHA-256 over a canonical form: sorted keys, ASCII, no spaces, floats by `repr`."""
        canonical = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(_DIGEST_DOMAIN + canonical.encode("ascii")).digest()

    def to_dict(self) -> dict[str, object]:
        """The fields by name, as JSON can hold them."""
        return {
            name: value
            for name, value in asdict(self).items()
            if name not in _LATER or value != _LATER[name]
        }

    @classmethod
    def from_dict(cls, values: object, source: str = "the agreement") -> Agreement:
        """The inverse of `to_dict`.

        Args:
            values: what should be a mapping with this class's fields.
            source: where it came from, for the error's text.

        Raises:
            KeyFormatError: a field is unknown, missing, of another type or out of range.
        """
        named = _LATER | dict(values) if isinstance(values, Mapping) else values
        found = exact_fields(named, (field.name for field in fields(cls)), source)
        try:
            return cls(**found)  # type: ignore[arg-type]  # __post_init__ checks every type
        except SettingsError as error:
            raise KeyFormatError(f"{source}: {error}") from error


def exact_fields(values: object, expected: Iterable[str], source: str) -> Mapping[str, object]:
    """`values`, once it is known to be a mapping with exactly the `expected` keys.

    Raises:
        KeyFormatError: it is not; the text names the fields and the `source`.
    """
    if not isinstance(values, Mapping):
        raise KeyFormatError(f"{source}: expected named fields, found a {type(values).__name__}")
    names, found = set(expected), {str(name) for name in values}
    problems = [
        f"{kind} {', '.join(sorted(which))}"
        for kind, which in (("missing", names - found), ("unknown", found - names))
        if which
    ]
    if problems:
        raise KeyFormatError(
            f"{source}: the fields are not the expected ones ({'; '.join(problems)}); "
            f"was it written by another version of ticore?"
        )
    return values


def _expect(holds: bool, name: str, expected: str, found: object) -> None:
    if not holds:
        raise SettingsError(f"{name}: expected {expected}, found {shown(found)}")
