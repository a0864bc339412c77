"""What the core asks of tokenizers and models. Backends implement these interfaces.

A backend translates and does not decide: it samples nothing, filters nothing, and adds no special
tokens to a text. `ticore.testing` has the tests that a backend must pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

Logits = npt.NDArray[np.floating]


SplitBehavior = Literal[
    "isolated", "removed", "merged_with_previous", "merged_with_next", "contiguous", "on_change"
]


@dataclass(frozen=True)
class Split:
    """One step of a pretokenizer: a text is split where an expression matches.

    Example: `Split(",", "merged_with_previous")` splits "a,b,,c" into "a,", "b,", "," and "c".

    Attributes:
        expression: a regular expression; matches are searched from left to right.
        behavior: what becomes of a match: a part of its own (`isolated`), nothing (`removed`), the
            end of the part before it (`merged_with_previous`), the beginning of the part after it
            (`merged_with_next`), or one part with the matches next to it (`contiguous`). With
            `on_change` the expression is a choice of sets, `[a-z]|[0-9]`, and a part begins where a
            character lies in another set than the last one that lay in any. What stands before the
            first of them is dropped, so this can only be the first step.
        inverted: whether matches and the text between them change their roles.
        dialect: whose syntax the expression has. In that of Rust, `$` is the end of the text and
            `x{1,3}+` gives nothing back.
        reads: what the expression sees. `bytes`: each byte of the text's UTF-8 as the character
            that stands for it in GPT-2's byte alphabet, such as "Ġ" for a space. Then a text may be
            split inside a character. All further steps see bytes too. `marks`: each space as
            U+2581.
    """

    expression: str
    behavior: SplitBehavior = "isolated"
    inverted: bool = False
    dialect: Literal["oniguruma", "rust"] = "oniguruma"
    reads: Literal["characters", "bytes", "marks"] = "characters"


@dataclass(frozen=True)
class AddedTokenFlags:
    r"""What an added token takes with it where it stands in a text, and where it is found.

    Attributes:
        lstrip: it takes the white space before it.
        rstrip: it takes the white space after it.
        single_word: it is found only where no character of a word (`\w`) stands beside it.
    """

    lstrip: bool = False
    rstrip: bool = False
    single_word: bool = False


@dataclass(frozen=True, eq=False)
class TokenizerStructure:
    """How a tokenizer works, in terms that do not depend on its library.

    Every field must be exactly right. An adapter that cannot describe its tokenizer in these terms
    returns no structure, and the core calls the tokenizer itself.

    `encode` works in this order:

    1. It finds added tokens and sets them apart.
    2. It normalizes each text between them. The dummy prefix goes before the whole text.
    3. The pretokenizer splits each of these texts into parts.
    4. Each part is split into atoms, and the algorithm joins atoms into pieces.

    Attributes:
        kind: `bpe` (byte-pair encoding: the best merge first) or `unigram` (SentencePiece's most
            probable segmentation; scores are summed from left to right, and of equal sums the one
            whose last piece begins first wins).
        atoms: what merging starts from: the UTF-8 `bytes` of a text or its `characters`. A byte
            that is no piece is lost: `encode` drops it or gives a special id for it.
        pieces: bool[vocab_size], True for an id that the algorithm itself gives. False for special
            ids, added tokens and the ids of `byte_ids`.
        merges: int32[n, 3], ids (left, right, result) of each BPE rule, the first one applied
            first; None if any two neighbours that spell a piece may merge, in the order of `ranks`.
            Either way, of equally ranked merges the leftmost is applied first.
            In the second case all characters of a text take part, those too that are no pieces.
        ranks: int32[vocab_size], the order of the merges that give a piece, lowest first. Only
            where `merges` is None; without meaning where `pieces` is False.
        scores: float32[vocab_size] or float64[vocab_size], log probabilities of the pieces;
            unigram only.
        byte_ids: the id for each of the 256 byte values, for characters that are not pieces; empty
            if there is no byte fallback. -1 for a byte without an id: a character that is not a
            piece and has this byte is lost, as an unknown one.
        ignore_merges: whether a part of the text that is a piece stays whole, even if merging would
            not give it.
        normalizer: its name: `identity`, `nfc`, or another one. The names of several steps are
            joined by `+`, as in `nfkc+lowercase`. The steps are `nfc`, `nfd`, `nfkc`, `nfkd`,
            `lowercase` and `strip_accents` (without marks, of categories M), both character by
            character, `replace`, and `by_character`, which replaces some characters by texts that
            no step makes these characters of again; the last one may be `metaspace`, where a space
            at the beginning of a text takes the place of the dummy prefix. Or `character_map`
            alone, which changes a text if and only if one of `replacements` is in it. Or `clusters`
            (perhaps with `metaspace`), which changes some characters wherever they stand, and each
            grapheme cluster of at most 5 bytes that begins with one of `replacements`. These begin
            a cluster wherever they stand, but after characters such as U+0600, which reach over
            any character that follows.
        replacements: what `replace`, `character_map` or `clusters` put in the place of which texts.
        normalize: from a text to the text that the algorithm reads instead, with plain spaces and
            without a dummy prefix; None if it reads the text as it is.
        pretokenizer: its steps. The first splits the text, and each further one splits the parts
            of the one before. Each part is encoded by itself. A str stands for an `isolated` split
            by this expression. Empty: the whole text is one part.
        dummy_prefix: whether `encode` puts one space before the text and `decode` removes it. It is
            put before the whole text only, not after each added token.
        adds_leading_space: whether `encode` puts a space before a text that begins with another
            character, and before the text after each added token, and `decode` keeps it. BPE of
            bytes only.
        keeps_whitespace: whether runs of spaces, and spaces at the ends, are encoded as they are.
        dummy_suffix: whether `encode` puts one space after the text, which `decode` keeps. Spaces
            at the end are dropped first (not `keeps_whitespace`).
        added_tokens: texts that are found before anything else (the leftmost first, of those the
            longest), and their ids.
        score_sums: how scores are added: in `float32` with a new sum from zero beyond -100,000, as
            in SentencePiece; or in `float64`, as in tokenizers. Unigram only.
        unknown_score: of a character that is not a piece; None if it is 10 below the least
            probable piece. Unigram only.
        unwritten_pieces: texts that the algorithm scores like pieces, but whose ids are not decoded
            as these texts, such as `<0x41>` for the byte of "A"; and their scores. Unigram only.
        added_flags: the flags of those that have any, by their texts. Only special tokens may have
            `lstrip` and `rstrip`. So no consistent list without special tokens depends on these.
    """

    kind: Literal["bpe", "unigram"]
    atoms: Literal["bytes", "characters"]
    pieces: npt.NDArray[np.bool_]
    merges: npt.NDArray[np.int32] | None = None
    ranks: npt.NDArray[np.int32] | None = None
    scores: npt.NDArray[np.floating] | None = None
    byte_ids: tuple[int, ...] = ()
    ignore_merges: bool = False
    normalizer: str = "identity"
    replacements: Mapping[str, str] = field(default_factory=dict)
    normalize: Callable[[str], str] | None = None
    pretokenizer: tuple[str | Split, ...] = ()
    dummy_prefix: bool = False
    adds_leading_space: bool = False
    keeps_whitespace: bool = True
    dummy_suffix: bool = False
    added_tokens: Mapping[str, int] = field(default_factory=dict)
    score_sums: Literal["float32", "float64"] = "float32"
    unknown_score: float | None = None
    unwritten_pieces: Mapping[str, float] = field(default_factory=dict)
    added_flags: Mapping[str, AddedTokenFlags] = field(default_factory=dict)


@runtime_checkable
class Tokenizer(Protocol):
    """Text to ids and back, exactly as a receiver would do it."""

    @property
    def vocab_size(self) -> int:
        """Number of ids; they run from 0 to `vocab_size` - 1."""
        ...

    @property
    def special_ids(self) -> frozenset[int]:
        """Control ids, unused ids and ids for unknown text. They are never candidates.

        All ids without bytes are among them. `encode` gives such an id
        only for text that it does not know, or that is the name of a special token.
        """
        ...

    def encode(self, text: str) -> list[int]:
        """Ids of `text`, without special tokens that the library would add.

        Raises:
            SettingsError: the text holds a lone surrogate.
            WrongTypeError: `text` is not a str.
        """
        ...

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """`[encode(text) for text in texts]`, faster where the library can."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """Text of `ids`, without clean-up of spaces.

        Malformed UTF-8 becomes U+FFFD, and control ids add nothing.
        """
        ...

    def token_bytes(self, token: int) -> bytes:
        """Bytes that one id adds to a text, with its leading space; empty for control ids."""
        ...

    def structure(self) -> TokenizerStructure | None:
        """A description of this tokenizer; None if none is exactly right."""
        ...

    def digest(self) -> str:
        """Hex digest of everything that shapes `encode` and `decode`."""
        ...


@runtime_checkable
class NamingTokenizer(Tokenizer, Protocol):
    """A Tokenizer that also says what its special ids are. These methods are optional."""

    @property
    def unknown_ids(self) -> frozenset[int]:
        """The special ids that `encode` may give for text it does not know, such as `<unk>`.

        Such an id means that text is lost. Without this property, every special id without bytes
        counts as one that a receiver keeps, such as an end of text.
        """
        ...

    def token_name(self, token: int) -> str:
        """The library's name of an id, such as `<|im_start|>`; empty for an id without a name."""
        ...


@runtime_checkable
class SpecialWritingTokenizer(Tokenizer, Protocol):
    """A Tokenizer whose special tokens can stand in a text by their names. Optional methods.

    Without them special tokens are never written out, as in SentencePiece.
    """

    def encode_with_specials(self, text: str) -> list[int]:
        """Ids of `text`, in which the names of special tokens are found. Raises as `encode`."""
        ...

    def decode_with_specials(self, ids: Sequence[int]) -> str:
        """`decode`, with the names of special tokens."""
        ...


@runtime_checkable
class SpacePrefixingTokenizer(Tokenizer, Protocol):
    """A Tokenizer whose structure may have `adds_leading_space`. The method is optional.

    Without it no tables are used for such a structure.
    """

    def without_leading_space(self) -> Tokenizer:
        """The same tokenizer, but it puts no space before a text."""
        ...


@runtime_checkable
class SingleWordTokenizer(Tokenizer, Protocol):
    """A Tokenizer whose added tokens may have the flag `single_word`. The method is optional.

    Without it no tables are used for such a structure.
    """

    def without_single_words(self) -> Tokenizer:
        """The same tokenizer with the same ids, but it never finds these added tokens.

        Its structure does not have them, and they are special ids of it.
        """
        ...


@runtime_checkable
class ExplainingTokenizer(Tokenizer, Protocol):
    """A Tokenizer that says why it has no structure. The property is optional."""

    @property
    def no_structure_reason(self) -> str:
        """What is in the way where `structure()` gives None, in words that a user can act on.

        Example: "its added token '<mask>' also takes the spaces before it (lstrip)". Empty where
        there is a structure.
        """
        ...


@runtime_checkable
class LossyTokenizer(Tokenizer, Protocol):
    """A Tokenizer that loses a part of most texts, such as BERT's. The property is optional."""

    @property
    def losses(self) -> str:
        """What a text loses when it is read and written again; empty if hardly anything.

        Example: "WordPiece keeps no white space".
        """
        ...


@dataclass(frozen=True)
class ChatTemplate:
    """How a model's conversations are written as one text.

    Attributes:
        source: a template in the language of Jinja, as Hugging Face's `chat_template`.
        special_tokens: what the template calls special tokens, and their texts, such as
            {"bos_token": "<s>"}.
        settings: what else the template asks for, such as {"enable_thinking": False}; values that
            JSON has.
    """

    source: str
    special_tokens: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, object] = field(default_factory=dict)


class Decoder(Protocol):
    """A model that reads one text from left to right. It owns the KV cache. Use one per thread."""

    @property
    def ids(self) -> Sequence[int]:
        """Ids read so far: the prompt, then the pushed ids."""
        ...

    def logits(self) -> Logits:
        """Logits float[logit_width] of the next token. The caller must not write into them."""
        ...

    def push(self, token: int) -> None:
        """Read one more id.

        Raises:
            CapacityError: the context is full.
            SettingsError: the id has no logit.
        """
        ...

    def rewind(self, count: int) -> None:
        """Forget the last `count` pushed ids, without a forward pass.

        Raises:
            SettingsError: fewer ids were pushed, or `count` is negative.
        """
        ...


class BatchDecoder(Protocol):
    """A model that reads several texts side by side. It owns their KV caches.

    A row has a number, from 0 on, and keeps it when other rows are dropped. The last bits of a
    row's logits may depend on the other rows that are read beside it. Use one per thread.
    """

    def ids(self, row: int) -> Sequence[int]:
        """Ids of a row read so far: its prompt, then the pushed ids."""
        ...

    def logits(self, row: int) -> Logits:
        """Logits float[logit_width] of a row's next token. The caller must not write into them."""
        ...

    def push(self, tokens: Mapping[int, int]) -> None:
        """Read one more id in some rows, in one forward pass. Other rows stay as they are.

        Args:
            tokens: the id for each row, by the row's number.

        Raises:
            CapacityError: the context of a row is full; then no row has read an id.
            SettingsError: an id has no logit; then no row has read an id.
        """
        ...

    def rewind(self, row: int, count: int) -> None:
        """Forget the last `count` pushed ids of a row, without a forward pass.

        Raises:
            SettingsError: fewer ids were pushed, or `count` is negative.
        """
        ...

    def drop(self, row: int) -> None:
        """Free a row. It must not be used again."""
        ...


@runtime_checkable
class GrowingBatchDecoder(BatchDecoder, Protocol):
    """A BatchDecoder that takes further rows while others are read. These are optional."""

    @property
    def grows(self) -> bool:
        """Whether `add` works."""
        ...

    def add(self, prompt_ids: Sequence[int]) -> int:
        """Read a prompt in a new row. Other rows stay as they are.

        Returns:
            The number of the row; numbers are never used again.

        Raises:
            PromptError: the prompt exceeds the context.
            SettingsError: an id has no logit, or the batch does not grow.
        """
        ...


class TopDecoder(Decoder, Protocol):
    """A Decoder whose logits are on a device, from which fetching all of them takes time."""

    def top(self, count: int) -> tuple[npt.NDArray[np.int64], Logits]:
        """The largest logits of the next token, the largest first, NaN before all.

        Args:
            count: how many. Any of several equal logits may be left out.

        Returns:
            Their ids, int64[count], and the logits, float[count].
        """
        ...


@runtime_checkable
class ManyTokenDecoder(Decoder, Protocol):
    """A Decoder that reads many ids of a known text faster than one after the other."""

    def push_many(self, tokens: Sequence[int]) -> Logits:
        """Read one or more ids.

        Returns:
            float[len(tokens), logit_width], the logits after each: the same bits as `push` gives.
            The caller must not write into them.

        Raises:
            CapacityError: the context has no room for all of them; nothing is read.
            SettingsError: there are none, or an id has no logit; nothing is read.
        """
        ...


@runtime_checkable
class LanguageModel(Protocol):
    """A causal language model with its tokenizer. Thread-safe: each text has its own Decoder."""

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
        """A Decoder that has read `prompt_ids`. The model adds a start token if it needs one.

        Raises:
            PromptError: the prompt exceeds `context_length`.
            SettingsError: an id has no logit.
        """
        ...

    def score(self, ids: Sequence[int]) -> Logits:
        """The logits before each id, in one pass.

        Returns:
            float[len(ids), logit_width]; row i predicts ids[i].

        Raises:
            CapacityError: there are more than `context_length` + 1 ids. The last id is not read.
            SettingsError: an id has no logit.
        """
        ...

    def digest(self) -> str:
        """Hex digest of everything that determines the logits: weights, sizes, precision."""
        ...


class RewindLimitingModel(LanguageModel, Protocol):
    """A model whose Decoders need not keep what nobody goes back to. The argument is optional."""

    def start(self, prompt_ids: Sequence[int], rewindable: int | None = None) -> Decoder:
        """As `LanguageModel.start`.

        Args:
            prompt_ids: the prompt.
            rewindable: the Decoder is never rewound by more ids than this from the furthest id that
                it has read, so older logits need no memory; None: it may be rewound to its prompt.
        """
        ...


@runtime_checkable
class PortableModel(LanguageModel, Protocol):
    """A model whose logits other backends and machines reproduce to 1e-9."""

    def portable_digest(self) -> str:
        """Hex digest of what determines the logits' values, the same in every backend.

        See `ticore.backend_kit.checkpoint.Checkpoint`.

        Raises:
            SettingsError: this model computes in less than float64, and other machines do not
                reproduce its last digits.
        """
        ...


@runtime_checkable
class BatchModel(LanguageModel, Protocol):
    """A model that can read several texts in one forward pass."""

    def start_batch(
        self, prompts: Sequence[Sequence[int]], rewindable: int | None = None
    ) -> BatchDecoder | None:
        """A BatchDecoder whose rows have read `prompts`.

        Args:
            prompts: the ids that each row begins with.
            rewindable: a row is never rewound by more ids than this from the furthest id that it
                has read, so older logits need no memory; None: a row may be rewound to its prompt.

        Returns:
            The decoder; None if this model cannot make one.

        Raises:
            PromptError: a prompt exceeds `context_length`; the text names its row, and no prompt
                was read.
            SettingsError: an id has no logit; the text names its row.
        """
        ...


TokenizerLoader = Callable[[str], Tokenizer]


@runtime_checkable
class ChatModel(LanguageModel, Protocol):
    """A LanguageModel that was trained on conversations. What is added here is optional."""

    @property
    def chat_template(self) -> ChatTemplate | None:
        """How a conversation is written; None if the model's files do not say."""
        ...

    def encode_conversation(self, text: str) -> list[int]:
        """Ids of a conversation that the template wrote, with its special tokens.

        A start token that the model reads before every text is left out.
        """
        ...


class ModelBackend(Protocol):
    """What an entry point of the group `ticore.models` names.

    Attributes:
        summary: one line on what this backend loads.
        shipped: names of the models that are bundled with it, each with one line about it.
        shipped_options: optional. For the name of a bundled model, the options with which every
            backend opens it unless the caller gives others.
    """

    summary: str
    shipped: Mapping[str, str]

    def folder(self, model: str) -> Path | None:
        """The folder of a bundled model, for other backends; None if it has none."""
        ...

    def load(
        self, location: str, load_tokenizer: TokenizerLoader, options: Mapping[str, object]
    ) -> LanguageModel:
        """Load the model at `location`.

        Args:
            location: the part of a place after the colon.
            load_tokenizer: opens the tokenizer at any `BACKEND:LOCATION`.
            options: settings by name, such as `dtype`.

        Raises:
            ModelFilesError: files are missing or damaged.
            SettingsError: an option is unknown.
        """
        ...


@runtime_checkable
class TokenizerOpeningBackend(ModelBackend, Protocol):
    """A ModelBackend that also opens the tokenizer of a model without the model's weights."""

    def open_tokenizer(self, location: str, load_tokenizer: TokenizerLoader) -> Tokenizer:
        """The tokenizer that `load(location, load_tokenizer, {})` gives its model.

        Raises:
            ModelFilesError: as `load`, if a file that tells of the tokenizer is missing or damaged.
        """
        ...


@runtime_checkable
class AdoptingModelBackend(ModelBackend, Protocol):
    """A ModelBackend that also takes models of its library that are in memory."""

    def adopt(self, found: object, tokenizer: Tokenizer, original: object) -> LanguageModel | None:
        """A LanguageModel that computes what `found` does; None if `found` is not of this library.

        Args:
            found: a model in memory.
            tokenizer: its tokenizer, wrapped.
            original: its tokenizer as the caller gave it.

        Raises:
            SettingsError: the model and the tokenizer do not fit.
            ModelFilesError: it is a model of this library that cannot be adapted exactly.
        """
        ...


class TokenizerBackend(Protocol):
    """What an entry point of the group `ticore.tokenizers` names.

    Attributes:
        summary: one line on what this backend loads.
    """

    summary: str

    def load(self, location: str) -> Tokenizer:
        """Load the tokenizer at `location`.

        Raises:
            ModelFilesError: the file is missing, damaged, or of a kind that is not supported.
        """
        ...


@runtime_checkable
class AdoptingBackend(TokenizerBackend, Protocol):
    """A TokenizerBackend that also takes tokenizers of its library that are in memory."""

    def adopt(self, found: object) -> Tokenizer | None:
        """A Tokenizer that does what `found` does; None if `found` is not of this library.

        Raises:
            ModelFilesError: it is a tokenizer of this library that cannot be adapted exactly.
        """
        ...
