"""Hide a message in generated text and read it back from the text alone."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self, get_args

from .._support.checks import require, require_integer, require_one_of, require_type
from .._support.deprecation import keywords_after, warn_deprecated
from .._support.ticks import no_tick
from ..candidates import Candidates
from ..channels import IDENTITY, Channel, PassingTexts, channel_of
from ..chat import Prompt
from ..codecs import CodecSpec, StopRule, codec_spec
from ..consistency import Mode, View
from ..disambiguation import DisambiguationSpec, disambiguation_spec
from ..errors import AgreementError, CredentialError
from ..interfaces import LanguageModel
from ..registry import require_model
from ._agreement import Agreement
from ._arguments import (
    agreed_model,
    agreed_prompt,
    agreed_variant,
    checked_message,
    plain_text,
    secret_of,
)
from ._batches import BatchMethods
from ._embedding import Observer, Progress
from ._frame_formats import Security
from ._jobs import run_alone
from ._long_messages import LongMessages
from ._openers import openers_name
from ._pasted import Recovered, recover
from ._portability import Numerics, model_digest
from ._raw_bits import BitsFormat, bits_embedding, bits_extraction
from ._results import Embedding
from ._sealed_reading import extraction
from ._sealed_writing import Check, embedding
from ._setup import Compress, Entropy, Finish, Pad, Setup
from ._text_state import Follower


class Steganographer(BatchMethods, LongMessages):
    """Writes and reads hidden messages under one set of settings, which both sides must share.

    Thread-safe, as far as its model is: each call has its own text.

    It can be copied and pickled if its model can. A pickle holds the key or the password, which is
    a secret: keep it like the key.

    Args:
        model: the model that writes; the reader needs the same one.
        key: 32 secret bytes, or their hex digits as a str: `ticore.Key.new()`,
            `ticore.load_key(path)`. Either this or `password`.
        password: a shared secret of any length. It costs 16 more bytes per message.
        prompt: the beginning of the text, or in view `continuation` the unsent text before it; or a
            conversation (`ticore.Chat`) that the text replies to, or token ids, both never sent.
        view: `whole`: the text begins with the prompt. `continuation`: the prompt is not sent.
            None: `whole` for a text, `continuation` for what is never sent.
        mode: how consistency is verified, see `ticore.Verifier`. None: `viable` with a
            disambiguation that verifies, which drops the fewest candidates; else `prefix`. Then
            texts are also read that were written in `prefix`, the former default.
        temperature, top_k, top_p, grid_bits, weight_bits: see `ticore.candidates.PoolSettings`.
        codec: `arithmetic`, `discop`, `huffman`, `mec`, `meteor`, `rrc`, `sparsamp`, one with a
            number such as `sparsamp:32` (blocks of 32 bits), or a `ticore.codecs.CodecSpec`.
        disambiguation: `stepwise`, `basic`, `lookahead`, `mwis`, `syncpool`; `search` or
            `search:long`, which need a key and take no window; one with a word
            such as `basic:decoded` (tokens are compared by their decoded strings instead of their
            bytes), or a `ticore.disambiguation.DisambiguationSpec`. `none` is for experiments: its
            reader may find other tokens.
        numerics: `same-stack`: the reader computes exactly as the writer does. `portable`: both
            compute in float64, with any backend on any machine.
        channel: what happens to the text on its way: `identity` (nothing), or, by use, `chat`,
            `email`, `sms`, `typographic`, `caseless`, `ascii`, `line`; several are joined as in
            `chat+typographic`. Only texts are written that come through, and what arrives is read
            as one of them. Or a `ticore.channels.Channel`.
        security: `standard`, or `compact` for short messages: 9 bytes around each instead of 21 or
            more, under weaker bounds. An outsider's text is taken for a message with probability
            2^-51, and two of n messages share a keystream with probability n^2 / 2^65. The same
            message may have the same frame again.
        openers: instead of a prompt: each text begins with a natural opening of this list, which
            the writer picks at random and the reader recognizes. `en`, `ja` and `zh` are the newest
            ones of these languages, such as `en-1`.
        window: the model sees the prompt and that many of the text's last tokens alone, so a text
            may be longer than its context. Each token takes a pass over them. None: all tokens.
        edits: the share of a text's tokens that may be replaced, dropped or put in on the way, at
            random places, so that the message is still read; a tenth is 0.1. It needs a `window`,
            since an edit spoils what is read from as many tokens after it: 4, say. The text is
            longer for it, and another kind of code takes the place of `codec`.
        finish: where the text ends after the message. `sentences`: at the end of a sentence, or of
            one of the next ones, as chance has it, so that the end tells little about the message;
            `sentence`: at the end of the first sentence; `turn`: where the model, sampled freely,
            ends its reply, after one more token at least; `none`: at once, so that what is
            appended may merge with the message. None: `turn` after a conversation or token ids,
            else `sentences`.
        pad: `sizes`: a message is padded to one of a few sizes, so that the text's length tells
            little about it; `none`: it is not.
        compress: how messages are made shorter, where that helps. `deflate`; or `model`: texts of
            up to 127 tokens are coded with the model's probabilities, which takes a pass of the
            model for each token, on both sides. None: `model` with compact security.
        shortest_of: how many texts are written for each message, of which the shortest is taken.
            That diverges from one text's distribution by log2 of their number at most, in bits per
            message: 3 bits with 8 texts. It is for short messages, with finish `sentence`: the
            shortest is one whose sentence ends soon after the message. A text is given up when it
            becomes as long as the shortest so far.
        entropy: source of random bytes: `f(n)` gives n of them. Replace it only to write the same
            text twice.

    Raises:
        SettingsError: a setting is out of range or unknown, or `model` is not a model.
        PromptError: the tokenizer does not give the prompt back, the prompt fills the context, or
            the model's template does not write the conversation.
        CredentialError: the key does not have 32 bytes, the password is empty, or both are given.

    With a keyed codec or disambiguation, the first 16 bytes of the sealed message (8 with compact
    security; 16 more with a password) are its nonce. They are written by arithmetic coding, and
    `syncpool` and `lookahead` choose as `mwis` does until they end. The random numbers that both
    sides share depend on the key and this nonce, and are used after it.

    >>> import ticore
    >>> stego = Steganographer(ticore.load_model("tiny-en"), key=bytes(32), prompt="One day")
    >>> stego.extract(stego.embed(b"noon"))
    b'noon'
    """

    def __init__(
        self,
        model: LanguageModel,
        *,
        key: bytes | str | None = None,
        password: str | None = None,
        prompt: Prompt = "",
        view: View | None = None,
        mode: Mode | None = None,
        temperature: float = 1.0,
        top_k: int | None = 64,
        top_p: float = 1.0,
        grid_bits: int = 10,
        weight_bits: int = 32,
        codec: str | CodecSpec = "arithmetic",
        disambiguation: str | DisambiguationSpec = "stepwise",
        numerics: Numerics = "same-stack",
        channel: str | Channel = "identity",
        security: Security = "standard",
        openers: str | None = None,
        window: int | None = None,
        edits: float = 0.0,
        finish: Finish | None = None,
        pad: Pad = "sizes",
        compress: Compress | None = None,
        shortest_of: int = 1,
        entropy: Entropy = secrets.token_bytes,
    ) -> None:
        require_model(model)
        if openers is not None:
            openers = openers_name(openers)
            has_none = isinstance(prompt, str) and prompt == ""
            require(has_none, "prompt", "none beside openers", prompt)
        require(callable(entropy), "entropy", "a function such as secrets.token_bytes", entropy)
        require_one_of("finish", finish, (*get_args(Finish), None))
        require_one_of("pad", pad, get_args(Pad))
        require(not edits or pad == "sizes", "pad", "sizes beside edits", pad)
        require_one_of("compress", compress, (*get_args(Compress), None))
        shortest_of = require_integer("shortest_of", shortest_of, 1)
        codec, disambiguation = codec_spec(codec), disambiguation_spec(disambiguation)
        channel = channel_of(channel)
        default_mode: Mode = "viable" if disambiguation.verifies else "prefix"
        agreement = Agreement(
            model=model_digest(model, numerics),
            tokenizer=model.tokenizer.digest(),
            **agreed_prompt(model, prompt, view),
            mode=default_mode if mode is None else mode,
            temperature=temperature,
            top_k=top_k,
            top_p=top_p,
            weight_bits=weight_bits,
            grid_bits=grid_bits,
            codec=codec.name,
            disambiguation=disambiguation.name,
            numerics=numerics,
            channel=channel.name,
            security=security,
            openers=openers,
            window=window,
            edits=edits,
        )
        # A search drops nothing. What a channel would change, it drops even then.
        keeps_all = disambiguation.searches and channel == IDENTITY
        passing = PassingTexts(channel, model.tokenizer, keeps_all)
        secret, candidates = secret_of(key, password), Candidates(model, agreement.pool)
        self._setup = Setup(
            model=model,
            agreement=agreement,
            codec=codec,
            disambiguation=disambiguation,
            candidates=candidates,
            passing=passing,
            secret=secret,
            finish=finish,
            pad=pad,
            compress=compress,
            entropy=entropy,
            shortest_of=shortest_of,
            mode_is_default=mode is None,
        )

    @property
    def agreement(self) -> Agreement:
        """The settings that both sides share."""
        return self._setup.agreement

    @classmethod
    def from_agreement(
        cls,
        agreement: Agreement,
        *,
        model: LanguageModel | None = None,
        key: bytes | str | None = None,
        password: str | None = None,
        codec: CodecSpec | None = None,
        disambiguation: DisambiguationSpec | None = None,
        channel: Channel | None = None,
        finish: Finish | None = None,
        pad: Pad = "sizes",
        compress: Compress | None = None,
        shortest_of: int = 1,
        entropy: Entropy = secrets.token_bytes,
    ) -> Self:
        """A steganographer with the settings of an agreement, such as `Agreement.load` gives.

        Args:
            agreement: the settings, and what else it holds.
            model: the model; None opens the one at the agreement's place and may download it, so
                use only files whose maker you trust.
            key, password: the secret, if the agreement holds no key.
            codec, disambiguation, channel: the one that the agreement names, if no package declares
                it.
            finish, pad, compress, shortest_of, entropy: see the class.

        Raises:
            AgreementError: `model` or its tokenizer is not the one that was agreed on, or the
                agreement does not say where the model is.
            CredentialError: the agreement has a key, and `key` or `password` is given as well.
            SettingsError: a codec, disambiguation or channel is unknown here.
            PromptError: see the class.
            WrongTypeError: `agreement` is not one, such as the name of its file.
            TicoreError: the model cannot be opened, see `ticore.load_model`.
        """
        require_type("agreement", agreement, Agreement, "open it with Agreement.load")
        if model is None:
            model = agreed_model(agreement)
        require_model(model)
        digests = model_digest(model, agreement.numerics), model.tokenizer.digest()
        for name, found in zip(("model", "tokenizer"), digests, strict=True):
            if getattr(agreement, name) != found:
                raise AgreementError(
                    f"expected the {name} that was agreed on, found another: its digest differs; "
                    f"use the same files and number format on both sides"
                )
        if agreement.key is not None:
            if key is not None or password is not None:
                raise CredentialError(
                    "expected the agreement's key alone, found a key or password given as well; "
                    "leave it out"
                )
            key = agreement.key
        settings: dict[str, Any] = agreement.to_dict()
        del settings["model"], settings["tokenizer"]
        ids = settings.pop("prompt_ids", None)
        if ids is not None:
            settings["prompt"] = ids
        settings.setdefault("channel", "identity")
        variants = {"codec": codec, "disambiguation": disambiguation, "channel": channel}
        for name, given in variants.items():
            settings[name] = agreed_variant(name, settings[name], given)
        settings |= {"finish": finish, "pad": pad, "compress": compress}
        settings |= {"shortest_of": shortest_of, "entropy": entropy}
        return cls(model, key=key, password=password, **settings)

    @classmethod
    def agreed(cls, model: LanguageModel, agreement: Agreement, **settings: Any) -> Self:
        """The former name of `from_agreement`."""
        warn_deprecated("Steganographer.agreed(model, agreement)", "from_agreement(agreement)")
        return cls.from_agreement(agreement, model=model, **settings)

    def with_prompt(self, prompt: Prompt) -> Self:
        """The same steganographer for texts that continue another prompt.

        It costs less than a new one: what depends on the model and the settings is shared. Both
        sides must use the same prompt, which is part of `agreement`. The view stays as it is,
        unless a text takes the place of a conversation or of ids, or they that of a text.

        Raises:
            PromptError: see the class.
            SettingsError: there are openers.
        """
        return self._with(self._setup.with_prompt(prompt))

    def _with(self, setup: Setup) -> Self:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._setup = setup
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        setup = self._setup
        # The keys that were derived from a password are left out: they are derived again.
        secret = None if setup.secret is None else replace(setup.secret)
        given = {
            "codec": setup.codec,
            "disambiguation": setup.disambiguation,
            "channel": setup.passing.channel,
            "finish": setup.finish,
            "pad": setup.pad,
            "compress": setup.compress,
            "shortest_of": setup.shortest_of,
            "entropy": setup.entropy,
        }
        changed = {"secret": secret, "mode_is_default": setup.mode_is_default}
        return _restored, (type(self), setup.model, setup.agreement, given, changed)

    @keywords_after(2)
    def embed(
        self,
        message: bytes,
        *,
        topic: str | None = None,
        progress: Progress | None = None,
        follower: Follower | None = None,
        check: Check = "tokens",
    ) -> Embedding:
        """Hide a message in a text. It is checked that `extract` gives the message back.

        Args:
            message: any bytes, which may be empty.
            topic: with `openers`, what the text's opening is about: `everyday`, `travel`,
                `cooking`, `work` or `story`; None: any of them.
            progress: called as `progress(done, total)`: the work that is done, and all the work as
                far as it is known, in bits.
            follower: called as `follower(text)` with the text so far, after each token, without a
                character whose last byte is still to come. A text that does not give the message
                back is begun again, and is shorter then.
            check: how. `tokens`: the text is taken apart as its reader will do it, and the message
                is read from the tokens found, with the candidates that the writer had. That takes
                no second pass of the model, and is right if the model gives the same logits again.
                Whether it does is tried once per model, on eight tokens; if not, the check is
                `full`. `full`: the text is read as `extract` does, which takes as long as writing.

        Returns:
            The text and what it cost. `str()` of it, or its `text`, is what to send.

        Raises:
            CapacityError: the message does not fit the model's context (see `embed_parts`), or the
                model leaves no choice to hide it in.
            CredentialError: there is no key and no password.
            SettingsError: the check or the topic is unknown, there is a topic without openers, or
                `entropy` gives another number of bytes.
            WrongTypeError: the message is not bytes, or `entropy` gives something else.
        """
        message = checked_message(message)
        require_one_of("check", check, get_args(Check))
        job = embedding(self._setup, message, check, progress, topic=topic, follower=follower)
        return run_alone(self._setup.model, job)

    def embed_report(self, message: bytes, progress: Progress | None = None) -> Embedding:
        """The former name of `embed`, which returned the text alone."""
        warn_deprecated("Steganographer.embed_report", "Steganographer.embed")
        return self.embed(message, progress=progress)

    @keywords_after(2)
    def extract(self, text: str | Embedding, *, progress: Progress | None = None) -> bytes:
        """The message that a text holds. What follows the message in the text is ignored.

        Args:
            text: what was received.
            progress: see `embed`.

        Returns:
            The message as it was hidden. Never a wrong one.

        Raises:
            ExtractionError: there is no message that this key and these settings read; see its
                subclasses. If the text was changed, an OutsidePoolError says where that shows.
            CredentialError: there is no key and no password.
            WrongTypeError: the text is not a str.
        """
        return run_alone(self._setup.model, extraction(self._setup, text, progress))

    @keywords_after(2)
    def extract_pasted(
        self,
        text: str | Embedding,
        *,
        progress: Progress | None = None,
        tick: Callable[[], None] = no_tick,
    ) -> Recovered:
        """As `extract`, but also if programs changed the text on its way.

        If the text cannot be read as it is, other readings are tried: without white space or other
        text before the prompt, with other line ends, quotation marks and spaces, with lines
        unwrapped, and some of these together. Then up to four line ends are looked for that the
        text had before it was wrapped. Then one small change is undone near the place where the
        text stops being one that can have been written: a comma, full stop, space, line break,
        quotation mark, dash or capital letter, or a letter that was replaced, lost, added or
        exchanged with its neighbour. Messages are authenticated, so a wrong reading gives no
        message.

        Args:
            text: what was received.
            progress: see `embed`; for the text as it is, not for other readings.
            tick: called before each token that is read, also of other readings; what it raises
                ends the work.

        Returns:
            The message, and what had to be undone.

        Raises:
            ExtractionError: as `extract`, of the reading that got furthest. All readings together
                take a few times as long as one.
            CredentialError, WrongTypeError: as `extract`.
        """
        return recover(self._setup, self.extract, plain_text(text), progress, tick)

    @keywords_after(2)
    def embed_bits(
        self,
        bits: Sequence[int],
        *,
        stop: StopRule = "exact",
        checksum: int = 0,
        progress: Progress | None = None,
        observer: Observer | None = None,
    ) -> Embedding:
        """Hide raw bits in a text, not sealed, for experiments.

        The bits should be uniform: the text is as natural as they are random. They have no nonce,
        so with portable numerics a text that another machine may misread cannot be avoided.

        Args:
            bits: 0 or 1 each.
            stop: see `ticore.codecs.ArithmeticCodec`. With `paper` the text ends with the message,
                as in the paper's experiments.
            checksum: how many bits of a checksum follow, 256 at most; they count as bits of the
                text. Disambiguations that search need one: a reader knows the right tokens by it.
            progress: see `embed`.
            observer: sees each step that carries bits, such as a `ticore.evaluation.Meter`.

        Returns:
            The text and what it cost.

        Raises:
            CapacityError: as `embed`, or a reader's search would not find the bits.
            CredentialError: the settings need a key, and there is none; a password is not enough.
            SettingsError: a bit is neither 0 nor 1, the codec does not have the stop rule, or there
                is no checksum where one is needed.
        """
        form = BitsFormat(stop, checksum)
        job = bits_embedding(self._setup, bits, form, progress, observer)
        return run_alone(self._setup.model, job)

    def embed_bits_report(
        self,
        bits: Sequence[int],
        stop: StopRule = "exact",
        progress: Progress | None = None,
        observer: Observer | None = None,
    ) -> Embedding:
        """The former name of `embed_bits`, which returned the text alone."""
        warn_deprecated("Steganographer.embed_bits_report", "Steganographer.embed_bits")
        return self.embed_bits(bits, stop=stop, progress=progress, observer=observer)

    @keywords_after(3)
    def extract_bits(
        self, text: str | Embedding, length: int, *, stop: StopRule = "exact", checksum: int = 0
    ) -> list[int]:
        """The first `length` bits that a text holds, written by `embed_bits` with the same stop.

        Args:
            text: what was received.
            length: how many bits to read, without the checksum.
            stop, checksum: see `embed_bits`.

        Returns:
            The bits, 0 or 1 each.

        Raises:
            ExtractionError: the text holds fewer bits, or was not written with these settings.
                Without a checksum that does not always show.
            CredentialError, SettingsError: as `embed_bits`.
            WrongTypeError: the text is not a str.
        """
        form = BitsFormat(stop, checksum)
        return run_alone(self._setup.model, bits_extraction(self._setup, text, length, form))


def _restored(
    kind: type[Steganographer],
    model: LanguageModel,
    agreement: Agreement,
    given: Mapping[str, Any],
    changed: Mapping[str, Any],
) -> Steganographer:
    """A steganographer as it was before it was pickled."""
    stego = kind.from_agreement(agreement, model=model, **given)
    return stego._with(replace(stego._setup, **changed))
