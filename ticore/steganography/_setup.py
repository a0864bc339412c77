"""What all texts of one Steganographer share, and the parts that each of them begins with."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice
from typing import Literal, cast

from .._support.checks import require, require_integer
from .._support.shared_randomness import SharedRandomness
from ..candidates import Candidates
from ..channels import PassingTexts
from ..chat import Prompt
from ..codecs import BitSource, Codec, CodecSpec, Reader, StopRule, Writer, forked
from ..consistency import Mode, View
from ..disambiguation import (
    Disambiguation,
    DisambiguationSpec,
    PromptContext,
    SearchableDisambiguation,
    Session,
    Spellings,
)
from ..errors import (
    CredentialError,
    ExtractionError,
    IncompleteMessageError,
    SettingsError,
    WrongTypeError,
    shown,
)
from ..interfaces import LanguageModel
from ._agreement import Agreement
from ._arguments import agreed_prompt, checked_prompt, plain_text
from ._beginnings import MOST_BEGINNINGS, beginnings, readings_inside
from ._checked_bits import MOST_CHECKSUM_BITS
from ._checked_frame import checked
from ._departure import TextAsRead
from ._ending import Ending, finish_sentence, finish_sentences, finish_turn, stop_at_once
from ._frame_formats import FORMATS, AnyFrameReader, FrameFormat, Security
from ._jobs import Job, NewText, begin_text
from ._keys import Secret
from ._nonce_first_codec import (
    FOR_CODEC,
    FOR_DISAMBIGUATION,
    NonceFirstReader,
    NonceFirstWriter,
)
from ._openers import Openers
from ._portability import TOLERANCE
from ._repeatable import is_repeatable
from ._results import Embedding
from ._steps_taken import StepsTaken
from ._text_state import Follower, TextState
from ._window import UNBOUNDED, Window

Finish = Literal["sentences", "sentence", "turn", "none"]
Pad = Literal["sizes", "none"]
Compress = Literal["deflate", "model"]
_USUAL: Mapping[Security, Compress] = {"standard": "deflate", "compact": "model"}
_FIRST_MODE = "prefix"  # the default of version 0.1
_MOST_LIKE = 3  # openers that are tried where the text's may be edited; each takes a reading
_MISREAD = 2.0**-10  # the share of tokens that may be misread where a text may be edited anyway
Entropy = Callable[[int], bytes]
"""`f(n)` gives n random bytes."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """The settings of a Steganographer, made ready for texts. Thread-safe as far as its model is.

    Attributes:
        model: that writes.
        agreement: the settings that both sides share.
        codec, disambiguation: those that the agreement names.
        candidates: of the model, with the agreement's settings.
        passing: the texts that the agreement's channel leaves alone.
        secret: of the messages; None if there is none.
        finish, pad, compress, entropy, shortest_of: see `ticore.Steganographer`.
        mode_is_default: whether the agreement's mode was not asked for, so that a text may be of a
            version with another default.
        prompt_ids: of the agreement's prompt.
        room: how many tokens a text can have after the prompt.
        window: what the model sees before each token; None: the prompt and all of the text.

    Raises:
        PromptError: the tokenizer does not give the prompt back, or the prompt fills the context.
        SettingsError: the disambiguation does not have the agreement's mode.
    """

    model: LanguageModel
    agreement: Agreement
    codec: CodecSpec
    disambiguation: DisambiguationSpec
    candidates: Candidates
    passing: PassingTexts
    secret: Secret | None = field(default=None, repr=False)
    finish: Finish | None = None
    pad: Pad = "sizes"
    compress: Compress | None = None
    entropy: Entropy = secrets.token_bytes
    shortest_of: int = 1
    mode_is_default: bool = False
    prompt_ids: list[int] = field(init=False)
    room: int = field(init=False)
    window: Window | None = field(init=False)
    _spelling: Disambiguation = field(init=False)
    _openers: Openers | None = field(init=False)

    def __post_init__(self) -> None:
        model, agreement = self.model, self.agreement
        prompt_ids = checked_prompt(model, agreement, self.passing)
        mode, view = cast(Mode, agreement.mode), cast(View, agreement.view)
        context = PromptContext(model.tokenizer, agreement.prompt, prompt_ids, view, mode)
        object.__setattr__(self, "prompt_ids", prompt_ids)
        object.__setattr__(self, "window", self._usable_window(prompt_ids))
        room = UNBOUNDED if self.window else model.context_length - len(prompt_ids)
        object.__setattr__(self, "room", room)
        object.__setattr__(self, "_spelling", self.disambiguation.make(context))
        object.__setattr__(self, "_openers", self._usable_openers())
        if self.agreement.edits and self.secret is not None and self.secret.salt_length:
            raise CredentialError(
                "expected a key where edits are allowed for, found a password: each text has its "
                "own salt, which an edited text does not show; give key=ticore.Key.new()"
            )
        if self.disambiguation.searches:
            self._check_search()
        if self.disambiguation.branches:
            window, name = self.agreement.window, self.disambiguation.name
            require(window is None, "window", f"none with disambiguation {name!r}", window)

    def with_prompt(self, prompt: Prompt) -> Setup:
        """The same for texts that continue another prompt.

        The view stays, unless the prompt changes from a text to something else or back.

        Raises:
            SettingsError: there are openers.
            PromptError, SettingsError, WrongTypeError: as `agreed_prompt`.
        """
        if self.agreement.openers is not None:
            raise SettingsError(
                "prompt: expected none beside openers, one of which is each text's prompt, found "
                "one; leave it out, or use a Steganographer without openers"
            )
        had_text = self.agreement.prompt_ids is None
        view = cast(View, self.agreement.view) if had_text == isinstance(prompt, str) else None
        fields = agreed_prompt(self.model, prompt, view)
        return replace(self, agreement=replace(self.agreement, **fields))

    def opened(self, topic: str | None = None) -> Setup:
        """The same for one text: with openers, its prompt is one of them, picked at random.

        Args:
            topic: of the opener; None: any.

        Raises:
            SettingsError: there are no openers, or none of this topic.
        """
        some = self.openers_about(topic)
        if not some:
            return self
        # 64 bits: no opener is noticeably more frequent than another.
        return self._with_opener(some[self.random_bits(64) % len(some)])

    def openers_about(self, topic: str | None) -> Sequence[str]:
        """The openers of a topic; none if texts do not begin with openers. Raises as `opened`."""
        if self._openers is not None:
            return self._openers.about(topic)
        if topic is not None:
            raise SettingsError(
                f"topic: expected none without openers, found {shown(topic)}; leave it out, or "
                f"give openers='en'"
            )
        return ()

    def _with_opener(self, opener: str) -> Setup:
        return replace(self, agreement=replace(self.agreement, prompt=opener))

    def _usable_openers(self) -> Openers | None:
        """The openers, if texts begin with them; None for a text whose opener is known."""
        name = self.agreement.openers
        if name is None or self.agreement.prompt:
            return None
        return Openers.of(name, self.model.tokenizer, self.passing)

    def _usable_window(self, prompt_ids: Sequence[int]) -> Window | None:
        """The agreement's window. Raises SettingsError if the context cannot hold it."""
        size = self.agreement.window
        if size is None:
            return None
        room = self.model.context_length - len(prompt_ids)
        require(size <= room, "window", f"at most {room}, what the context has room for", size)
        return Window(prompt_ids, size)

    def _check_search(self) -> None:
        """Whether a reader can search. Raises SettingsError."""
        if not isinstance(self._spelling, SearchableDisambiguation):
            raise SettingsError(
                f"disambiguation: expected one with a method spellings, since its spec says that "
                f"it searches, found {type(self._spelling).__name__}"
            )
        window = self.agreement.window
        require(window is None, "window", "none with a disambiguation that searches", window)
        if self.secret is not None and self.secret.salt_length:
            raise SettingsError(
                "password: expected a key with a disambiguation that searches, since each reading "
                "that it tries would take the password's slow hash, found a password; give "
                "key=ticore.Key.new()"
            )
        randomness = SharedRandomness(bytes(32), FOR_CODEC)
        forked(self.codec.make(randomness=randomness).reader())

    def ending(self) -> Ending:
        """What follows the message. After a conversation it ends like a reply, unless stated."""
        has_text = self.agreement.prompt_ids is None
        match self.finish or ("sentences" if has_text else "turn"):
            case "sentences":
                return finish_sentences(self.random_bits)
            case "sentence":
                return finish_sentence
            case "turn":
                return finish_turn(self.random_bits)
        return stop_at_once

    @property
    def is_portable(self) -> bool:
        """Whether other machines read the texts."""
        return self.agreement.numerics == "portable"

    @property
    def most_bits(self) -> int:
        """An upper bound of the bits that a text can carry."""
        return int(self.room * math.log2(self.candidates.max_pool_size))

    @property
    def tolerance(self) -> float:
        """By how much the reader's logits may differ."""
        return TOLERANCE if self.is_portable else 0.0

    @property
    def codes_by_model(self) -> bool:
        """Whether the model may shorten messages. Compact security is for short ones."""
        return (self.compress or _USUAL[self.agreement.security]) == "model"

    @property
    def frames(self) -> FrameFormat:
        """How messages are sealed."""
        frames = FORMATS[self.agreement.security]
        return checked(frames) if self.disambiguation.checked else frames

    @property
    def shares_randomness(self) -> bool:
        """Whether both sides draw random numbers that they share."""
        return self.codec.keyed or self.disambiguation.keyed

    def begin(
        self,
        known_ids: Sequence[int] | None = None,
        known: StepsTaken | None = None,
        follower: Follower | None = None,
        session: Session | None = None,
        rival: int | None = None,
    ) -> Job[TextState]:
        """A text at its prompt. If its tokens are known, many may be read in one pass.

        Args:
            known_ids: all tokens after the prompt, if they are known.
            known, follower, rival: see `TextState`.
            session: of the text; None: that of `session`.
        """
        at_once = bool(known_ids) and self._reads_many_at_once()
        # In a window that is read token by token, each token begins a text of its own.
        is_ahead = at_once or self.window is None
        ahead = known_ids[: self.room] if known_ids and is_ahead else ()
        size = None if self.window is None else self.window.size
        goes_back = self.disambiguation.branches
        decoder = yield from begin_text(
            NewText(self.prompt_ids, ahead, at_once=at_once, window=size, rewindable=goes_back)
        )
        passing = self.passing.start(self.sent)
        return TextState(
            decoder,
            self.candidates,
            session or self.session(),
            passing,
            room=self.room,
            window=None if at_once else self.window,
            known=known,
            follower=follower,
            rival=rival,
        )

    def _reads_many_at_once(self) -> bool:
        """Whether a reader's logits may be computed many at once, which changes their last bits.

        A token of a text that may be edited is misread about as often as its logits are wrong by a
        share of one: here less than once in a thousand tokens. The code allows for much more.
        Two rows show how far off a batch is; a model without batches would take long for more.
        """
        if self.is_portable or not self.agreement.edits:
            return self.is_portable
        return is_repeatable(self.model, self.candidates.ids, _MISREAD, batch_size=2)

    def session(self) -> Session:
        """What the disambiguation keeps of one text."""
        return self._spelling.start()

    @property
    def sent(self) -> str:
        """What a text that is sent begins with."""
        return self.agreement.prompt if self.agreement.view == "whole" else ""

    def readers(self, text: str | Embedding) -> Iterator[tuple[Setup, str]]:
        """What a reader may take a received text for, at least one, and the setup for each.

        Raises:
            ExtractionError: there are openers, and none is in the text.
            WrongTypeError: `text` is not a text.
        """
        yield from self._readers(text)
        if self.mode_is_default and self.agreement.mode != _FIRST_MODE:
            yield from self._of_first_mode._readers(text)

    @cached_property
    def _of_first_mode(self) -> Setup:
        """The same for texts of versions with another default."""
        agreement = replace(self.agreement, mode=_FIRST_MODE)
        return replace(self, agreement=agreement, mode_is_default=False)

    def _readers(self, text: str | Embedding) -> Iterator[tuple[Setup, str]]:
        """`readers` with the agreement's mode."""
        if self._openers is None:
            yield from ((self, reading) for reading in self.readings(text))
            return
        readings = readings_inside(plain_text(text), self.passing.channel)
        each = dict.fromkeys(chain.from_iterable(map(self._openers.found_in, readings)))
        found = list(islice(each, MOST_BEGINNINGS))
        as_read = self.passing.channel.read(plain_text(text))
        if self.agreement.edits:  # the opener may be edited, as a prompt may
            found += [(opener, as_read) for opener in self._openers.like(as_read, _MOST_LIKE)]
            found = list(dict.fromkeys(found))
        if not found:
            raise ExtractionError(
                f"expected a text with one of the openers {self._openers.name!r} at its beginning, "
                f"found {shown(as_read)}; its beginning is missing or changed, or it was written "
                f"with other settings"
            )
        yield from ((self._with_opener(opener), reading) for opener, reading in found)

    def readings(self, text: str | Embedding) -> Iterator[str]:
        """What a reader may take a text for whose prompt is known. Raises WrongTypeError."""
        if self.agreement.edits:
            # Words before the message do no harm, and its beginning may be edited.
            return iter([self.passing.channel.read(plain_text(text))])
        return beginnings(plain_text(text), self.sent, self.passing.channel)

    def received(self, text: str) -> TextAsRead:
        """A text as its reader has it, one of its `readings`. Raises ExtractionError."""
        if not text:
            raise IncompleteMessageError("expected a text with a message in it, found none")
        return TextAsRead(text, self._spelling.read(text), self.model.tokenizer.token_bytes)

    def spellings(self, text: str) -> Spellings:
        """What can have been written as a text, where that is searched. Raises ExtractionError."""
        if not isinstance(self._spelling, SearchableDisambiguation):
            raise TypeError(f"expected a search, found {self.disambiguation.name!r}")
        return self._spelling.spellings(text)

    def sealing_secret(self) -> Secret:
        """The secret of sealed messages. Raises CredentialError."""
        if self.secret is None:
            raise CredentialError(
                "expected a key or a password, found neither; "
                "give key=ticore.Key.new() or password=..., or use embed_bits for raw bits"
            )
        return self.secret

    def new_frame(self) -> AnyFrameReader:
        """Waits for the bits of a frame. Raises CredentialError."""
        return self.frames.reader(self.sealing_secret(), self.agreement.digest())

    def frame_writer(self, frame: bytes) -> Writer:
        """Writes a sealed message, then random bits. Raises CredentialError."""
        if self.shares_randomness:
            return NonceFirstWriter(
                self.codec, self.frames, self.sealing_secret(), frame, self.random_bits
            )
        return self.codec.make().writer(BitSource(frame, 8 * len(frame), self.random_bits))

    def frame_reader(self) -> Reader:
        """Reads what a `frame_writer` wrote. Raises CredentialError."""
        if self.shares_randomness:
            return NonceFirstReader(self.codec, self.frames, self.sealing_secret())
        return self.codec.make().reader()

    def raw_codec(self, stop: StopRule, text: TextState | None = None) -> Codec:
        """The codec of raw bits. They have no nonce: shared numbers start with the text.

        Args:
            stop: see `Steganographer.embed_bits`.
            text: at its prompt, if there is one; it is given the numbers that it shares.

        Raises:
            CredentialError: it needs a key, and there is none.
            SettingsError: the codec does not have the stop rule, or texts may be edited.
        """
        require(not self.agreement.edits, "edits", "0 for raw bits", self.agreement.edits)
        if not self.shares_randomness:
            return self.codec.make(stop)
        if self.secret is None or self.secret.salt_length:
            raise CredentialError(
                "expected a key, since these settings draw random numbers that both sides share, "
                "found none; give key=ticore.Key.new(), a new one for each text of raw bits"
            )
        key = self.secret.derive(b"").shared_key(b"raw bits")
        if text is not None:
            text.share(SharedRandomness(key, FOR_DISAMBIGUATION))
        return self.codec.make(stop, SharedRandomness(key, FOR_CODEC))

    def checksum_bits(self, count: int) -> int:
        """How many bits the checksum of raw bits has. Raises SettingsError."""
        count = require_integer("checksum", count, 0, MOST_CHECKSUM_BITS)
        if self.disambiguation.searches and not count:
            raise SettingsError(
                f"checksum: expected the bits of a checksum, such as 32, with disambiguation "
                f"{self.disambiguation.name!r}, since raw bits are not authenticated, and nothing "
                f"else tells which reading is right; found none; or use 'stepwise', or embed a "
                f"message"
            )
        return count

    def random_bits(self, count: int) -> int:
        """That many random bits."""
        size = -(-count // 8)
        return int.from_bytes(self.random_bytes(size)) >> (8 * size - count)

    def random_bytes(self, count: int) -> bytes:
        """That many random bytes. Raises WrongTypeError, SettingsError: `entropy` gave others."""
        found = self.entropy(count)
        if not isinstance(found, bytes):
            raise WrongTypeError(
                f"entropy: expected {count} bytes, found {type(found).__name__}; give a function "
                f"such as secrets.token_bytes"
            )
        if len(found) != count:
            raise SettingsError(
                f"entropy: expected {count} bytes, found {len(found)}; give a function such as "
                f"secrets.token_bytes, which returns as many as it is asked for"
            )
        return found
