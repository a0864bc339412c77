"""What the core asks of tokenizers and models. Backends implement these and nothing else.

A backend translates, it does not decide: no sampling, no filtering, no special tokens added.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

Logits = npt.NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class TokenizerStructure:
    """How a tokenizer works, in neutral terms, so that the core can reason without its library.

    A field says what is known for certain. An adapter that cannot describe its tokenizer in these
    terms returns no structure at all, and the core asks the tokenizer itself.

    `encode` works in this order: added tokens are found and set apart; each stretch of text between
    them is normalised, given its dummy prefix, and split by the pretokenizer; every part is broken
    into atoms, which the algorithm joins into pieces.

    Attributes:
        kind: `bpe` (best-first merges) or `unigram` (SentencePiece's most probable segmentation,
            its scores added up in float32 from left to right).
        atoms: what merging starts from: the UTF-8 `bytes` of a text or its `characters`.
        pieces: bool[vocab_size], the ids that the algorithm itself gives. Special ids, added
            tokens and the bytes of `byte_ids` are none.
        merges: int32[n, 3], ids (left, right, result) of each rule of BPE, most urgent first; None
            if every two neighbours that spell a piece may merge, as `ranks` says. Of equally
            urgent merges the leftmost comes first, here and there.
        ranks: int32[vocab_size], the urgency of the merges that yield a piece, least first; only
            where `merges` is None, and meaningless where `pieces` is False.
        scores: float32[vocab_size], log probabilities of the pieces; unigram only.
        byte_ids: for each of the 256 byte values the id that stands for it where a character is no
            piece; empty if there is no byte fallback.
        ignore_merges: a part of the text that is a piece as a whole stays whole, even if merging
            would not yield it.
        normalizer: `identity`, `nfc`, or another name.
        normalize: text to what the algorithm reads in its place, with plain spaces and no dummy
            prefix; None where it reads the text as it is.
        pretokenizer: regular expressions applied in turn, each to the parts that the one before
            left; their matches, and what lies between matches, are encoded one by one. Empty: the
            whole text is one part.
        dummy_prefix: `encode` puts one space before the text and `decode` takes it away. Where
            added tokens can be written, it stands before the text only, not behind each of them;
            nothing is said of a text behind a special token.
        keeps_whitespace: runs of spaces, and spaces at the ends, reach the tokens as they are.
        added_tokens: texts that are found before anything else is looked at (leftmost first, of
            those the longest), and the ids they give.
    """

    kind: Literal["bpe", "unigram"]
    atoms: Literal["bytes", "characters"]
    pieces: npt.NDArray[np.bool_]
    merges: npt.NDArray[np.int32] | None = None
    ranks: npt.NDArray[np.int32] | None = None
    scores: npt.NDArray[np.float32] | None = None
    byte_ids: tuple[int, ...] = ()
    ignore_merges: bool = False
    normalizer: str = "identity"
    normalize: Callable[[str], str] | None = None
    pretokenizer: tuple[str, ...] = ()
    dummy_prefix: bool = False
    keeps_whitespace: bool = True
    added_tokens: Mapping[str, int] = field(default_factory=dict)


@runtime_checkable
class Tokenizer(Protocol):
    """Text to ids and back, exactly as a receiver would do it."""

    @property
    def vocab_size(self) -> int:
        """Number of ids; they run from 0 to `vocab_size` - 1."""
        ...

    @property
    def special_ids(self) -> frozenset[int]:
        """Control, unknown and other ids that `encode` never gives. Never candidates."""
        ...

    def encode(self, text: str) -> list[int]:
        """Ids of `text`, no special tokens added. Raises SettingsError for lone surrogates."""
        ...

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """`[encode(t) for t in texts]`, faster where the library can."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """Text of `ids`: no clean-up of spaces, malformed UTF-8 as U+FFFD, control ids silent."""
        ...

    def token_bytes(self, token: int) -> bytes:
        """Bytes that one id adds to a text, its leading space included; empty for control ids."""
        ...

    def structure(self) -> TokenizerStructure | None:
        """A description of this tokenizer, or None where none fits exactly."""
        ...

    def digest(self) -> str:
        """Hex digest of everything that shapes `encode` and `decode`."""
        ...


@runtime_checkable
class NamingTokenizer(Tokenizer, Protocol):
    """A Tokenizer that also says what its special ids are. It need not: others work as well."""

    @property
    def unknown_ids(self) -> frozenset[int]:
        """The special ids that `encode` may give for text it does not know, such as `<unk>`.

        Text is lost where one stands. Without this property, each special id without bytes is
        taken for one that a receiver keeps as it is, such as an end of text.
        """
        ...

    def token_name(self, token: int) -> str:
        """How the library names one id, such as `<|im_start|>`; empty for an id without a name."""
        ...


class Decoder(Protocol):
    """A model reading one text from left to right. Owns the KV cache."""

    @property
    def ids(self) -> Sequence[int]:
        """Ids read so far: the prompt, then what was pushed."""
        ...

    def logits(self) -> Logits:
        """Logits float[logit_width] of the next token. The caller must not write into them."""
        ...

    def push(self, token: int) -> None:
        """Read one more id. Raises CapacityError when the context is full."""
        ...

    def rewind(self, count: int) -> None:
        """Forget the last `count` pushed ids. Costs no forward pass."""
        ...


class BatchDecoder(Protocol):
    """A model reading several texts side by side. Owns their KV caches.

    A row is named by its number from 0 on, and keeps it when others are dropped. Logits of a row
    may differ in their last bits by which other rows are read beside it.
    """

    def ids(self, row: int) -> Sequence[int]:
        """Ids of a row read so far: its prompt, then what was pushed."""
        ...

    def logits(self, row: int) -> Logits:
        """Logits float[logit_width] of a row's next token. The caller must not write into them."""
        ...

    def push(self, tokens: Mapping[int, int]) -> None:
        """Read one more id in each row that is named, in one forward pass; others stay as they are.

        Raises CapacityError where the context of one is full, and then reads in none.
        """
        ...

    def rewind(self, row: int, count: int) -> None:
        """Forget the last `count` pushed ids of a row. Costs no forward pass."""
        ...

    def drop(self, row: int) -> None:
        """Be done with a row: it costs nothing from now on, and must not be named again."""
        ...


class TopDecoder(Decoder, Protocol):
    """A Decoder whose logits lie on a device, from which fetching all of them takes time."""

    def top(self, count: int) -> tuple[npt.NDArray[np.int64], Logits]:
        """The `count` largest logits of the next token: ids int64[count], logits float[count].

        The largest first, NaN before all; which of equal ones come is left open.
        """
        ...


@runtime_checkable
class LanguageModel(Protocol):
    """A causal language model with its tokenizer."""

    @property
    def tokenizer(self) -> Tokenizer: ...

    @property
    def logit_width(self) -> int:
        """Number of logits; may exceed `tokenizer.vocab_size` in padded vocabularies."""
        ...

    @property
    def eos_ids(self) -> frozenset[int]:
        """Ids that end a text."""
        ...

    @property
    def context_length(self) -> int:
        """Most ids, prompt included, that a Decoder can read."""
        ...

    def start(self, prompt_ids: Sequence[int]) -> Decoder:
        """A Decoder that has read `prompt_ids`. A start token, if any, is the model's own matter.

        Raises PromptError where the prompt exceeds `context_length`.
        """
        ...

    def score(self, ids: Sequence[int]) -> Logits:
        """Logits float[len(ids), logit_width] in one pass; row i was computed before ids[i]."""
        ...

    def digest(self) -> str:
        """Hex digest of everything that shapes the logits: weights, sizes, precision."""
        ...


@runtime_checkable
class PortableModel(LanguageModel, Protocol):
    """A model whose logits other backends and machines compute as well, to 1e-9."""

    def portable_digest(self) -> str:
        """Hex digest of what shapes the logits' values, the same in every backend.

        See `ticore.checkpoint.Checkpoint`. Raises SettingsError where this model computes in
        less than float64, whose last digits are nobody else's.
        """
        ...


@runtime_checkable
class BatchModel(LanguageModel, Protocol):
    """A model that can read several texts in one forward pass."""

    def start_batch(
        self, prompts: Sequence[Sequence[int]], rewindable: int | None = None
    ) -> BatchDecoder | None:
        """A BatchDecoder whose rows have read `prompts`; None where this model cannot make one.

        Args:
            rewindable: how far before the furthest place that a row has read it is ever rewound,
                so that logits further back need no memory; None: to its prompt.

        Raises PromptError as `start`, and names the row, before any is read.
        """
        ...


TokenizerLoader = Callable[[str], Tokenizer]


class ModelBackend(Protocol):
    """What an entry point of the group `ticore.models` names.

    Attributes:
        summary: one line on what this backend loads.
        shipped: names of models that come with it, each with one line on what it is.
    """

    summary: str
    shipped: Mapping[str, str]

    def folder(self, model: str) -> Path | None:
        """Where the files of a shipped model lie, which other backends may open; None: nowhere."""
        ...

    def load(
        self, location: str, load_tokenizer: TokenizerLoader, options: Mapping[str, object]
    ) -> LanguageModel:
        """Load the model at `location`; `load_tokenizer` opens any `BACKEND:LOCATION`.

        Raises ModelFilesError for missing or damaged files, SettingsError for unknown options.
        """
        ...


class TokenizerBackend(Protocol):
    """What an entry point of the group `ticore.tokenizers` names."""

    summary: str

    def load(self, location: str) -> Tokenizer:
        """Load the tokenizer file at `location`. Raises ModelFilesError."""
        ...


@runtime_checkable
class AdoptingBackend(TokenizerBackend, Protocol):
    """A TokenizerBackend that also takes tokenizers that its library has opened already."""

    def adopt(self, found: object) -> Tokenizer | None:
        """A Tokenizer that does what `found` does; None if that is none of this library's.

        Raises ModelFilesError where it is one that cannot be adapted.
        """
        ...
