"""The methods of a Steganographer that write or read many texts at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import get_args

from .._support.checks import checked_ids, require, require_integer, require_one_of
from ..backend_kit._batch_decoder import each_row, error_names_row
from ..chat import Chat, Prompt
from ..codecs import StopRule
from ..errors import SettingsError, TicoreError, WrongTypeError
from ._arguments import checked_message, plain_text, several
from ._embedding import Observer
from ._keys import Secret
from ._lockstep import run_together
from ._raw_bits import BitsFormat, bits_embedding, bits_extraction
from ._results import Embedding
from ._sealed_reading import extraction
from ._sealed_writing import Check, embedding
from ._setup import Setup


class BatchMethods:
    """A base class of `Steganographer`."""

    _setup: Setup

    def embed_batch(
        self,
        messages: Sequence[bytes],
        *,
        prompts: Sequence[Prompt] | None = None,
        topic: str | Sequence[str | None] | None = None,
        check: Check = "tokens",
        batch_size: int = 32,
    ) -> list[Embedding | TicoreError]:
        """Hide each message in a text of its own; the model reads many texts in one pass.

        Each text is one that `embed` writes. What is random comes from `entropy` in another order.

        Args:
            messages: any bytes each.
            prompts: what each text continues, see the class; None: this Steganographer's prompt for
                all. Their readers need `with_prompt` of the same prompt, or `extract_batch`.
            topic: what the texts' openings are about, see `embed`: one for all texts, or one for
                each.
            check: see `embed`.
            batch_size: how many texts are written side by side. It changes nothing but the time
                and the memory that is taken. When a text ends, the next one begins.

        Returns:
            For each message the text and what it cost; or, where `embed` would raise it, an error
            about this message, such as a CapacityError. The other messages do not notice.

        Raises:
            CredentialError: there is no key and no password.
            PromptError: see the class. The text names the row, a message's number from 0 on.
            SettingsError: `numerics` is not `portable`: other texts in the same pass change the
                last bits of logits. Or the check or a topic is unknown, there is a topic without
                openers, there is another number of prompts or topics than of messages, or
                `batch_size` is below 1.
            WrongTypeError: a message is not bytes.
        """
        messages = each_row(checked_message, several("messages", messages))
        require_one_of("check", check, get_args(Check))
        self._setup.sealing_secret()
        setups = self._rows(len(messages), prompts, batch_size)
        topics = self._topics(topic, len(messages))
        batch_size = min(batch_size, max(1, len(messages)))
        jobs = [
            embedding(setup, message, check, None, batch_size, topic=about)
            for setup, message, about in zip(setups, messages, topics, strict=True)
        ]
        return run_together(self._setup.model, jobs, batch_size)

    def extract_batch(
        self,
        texts: Sequence[str | Embedding],
        *,
        prompts: Sequence[Prompt] | None = None,
        batch_size: int = 32,
    ) -> list[bytes | TicoreError]:
        """The message of each text, see `extract`; the model reads many texts in one pass.

        Args:
            texts: what was received, in any order.
            prompts, batch_size: see `embed_batch`.

        Returns:
            For each text the message; or the ExtractionError that `extract` raises.

        Raises:
            CredentialError, PromptError, SettingsError: as `embed_batch`.
            WrongTypeError: a text is not a str.
        """
        texts = each_row(plain_text, several("texts", texts))
        self._setup.sealing_secret()
        setups = self._rows(len(texts), prompts, batch_size)
        jobs = [extraction(*each, None) for each in zip(setups, texts, strict=True)]
        return run_together(self._setup.model, jobs, batch_size)

    def embed_bits_batch(
        self,
        bits: Sequence[Sequence[int]],
        *,
        prompts: Sequence[Prompt] | None = None,
        keys: Sequence[bytes | str] | None = None,
        stop: StopRule = "exact",
        checksum: int = 0,
        observers: Sequence[Observer] | None = None,
        batch_size: int = 32,
    ) -> list[Embedding | TicoreError]:
        """Hide raw bits in many texts, see `embed_bits`; the model reads many in one pass.

        Args:
            bits: for each text 0 or 1 each.
            prompts, batch_size: see `embed_batch`.
            keys: for each text a key in place of this Steganographer's. Settings that need a key
                need a new one for each text of raw bits.
            stop, checksum: see `embed_bits`.
            observers: one for each text, such as a `ticore.evaluation.Meter`; see `embed_bits`.

        Returns:
            For each text the text and what it cost, or the error that `embed_bits` raises.

        Raises:
            CredentialError, PromptError, SettingsError: as `embed_batch`.
            WrongTypeError: `bits` is one list of bits.
        """
        bits = several("bits", bits)
        if any(isinstance(each, Integral) for each in bits):
            raise WrongTypeError(
                "bits: expected a list of bits for each text, found one list; give [it]"
            )
        require_one_of("stop", stop, get_args(StopRule))
        self._setup.checksum_bits(checksum)
        setups = self._rows(len(bits), prompts, batch_size, keys)
        watching: Sequence[Observer | None] = [None] * len(bits)
        if observers is not None:
            watching = several("observers", observers)
            _require_count("observers", len(watching), len(bits))
        jobs = [
            bits_embedding(setup, some, BitsFormat(stop, checksum), observer=observer)
            for setup, some, observer in zip(setups, bits, watching, strict=True)
        ]
        return run_together(self._setup.model, jobs, batch_size)

    def extract_bits_batch(
        self,
        texts: Sequence[str | Embedding],
        length: int,
        *,
        prompts: Sequence[Prompt] | None = None,
        keys: Sequence[bytes | str] | None = None,
        stop: StopRule = "exact",
        checksum: int = 0,
        batch_size: int = 32,
    ) -> list[list[int] | TicoreError]:
        """The first `length` bits of each text, see `extract_bits`.

        Args:
            texts: what was received.
            length, stop, checksum: see `extract_bits`.
            prompts, keys, batch_size: see `embed_bits_batch`.

        Returns:
            For each text the bits, or the ExtractionError that `extract_bits` raises.

        Raises:
            CredentialError, PromptError, SettingsError: as `embed_batch`; length, stop or
                checksum is wrong.
            WrongTypeError: a text is not a str.
        """
        require_integer("length", length, 0)
        require_one_of("stop", stop, get_args(StopRule))
        self._setup.checksum_bits(checksum)
        texts = each_row(plain_text, several("texts", texts))
        setups = self._rows(len(texts), prompts, batch_size, keys)
        jobs = [
            bits_extraction(setup, text, length, BitsFormat(stop, checksum))
            for setup, text in zip(setups, texts, strict=True)
        ]
        return run_together(self._setup.model, jobs, batch_size)

    def _rows(
        self,
        count: int,
        prompts: Sequence[Prompt] | None,
        batch_size: int,
        keys: Sequence[bytes | str] | None = None,
    ) -> list[Setup]:
        """The setup of each row of a batch. Raises as `embed_batch`."""
        require_integer("batch_size", batch_size, 1)
        numerics = self._setup.agreement.numerics
        if numerics != "portable":
            raise SettingsError(
                f"numerics: expected 'portable' for a batch, found {numerics!r}: texts that are "
                f"read in one pass change the last bits of each other's logits, and a reader of "
                f"one text would find other candidates; give numerics='portable' (with a model "
                f"in float64), or write and read the texts one by one"
            )
        if prompts is None:
            setups = [self._setup] * count
        else:
            _require_count("prompts", len(several("prompts", prompts)), count)
            setups = self._with_prompts(prompts)
        if keys is None:
            return setups
        _require_count("keys", len(several("keys", keys)), count)
        secrets_ = each_row(Secret.from_key, keys)
        return [
            replace(setup, secret=secret) for setup, secret in zip(setups, secrets_, strict=True)
        ]

    def _topics(self, topic: str | Sequence[str | None] | None, count: int) -> Sequence[str | None]:
        """The topic of each row of a batch. Raises SettingsError."""
        if topic is None or isinstance(topic, str):
            self._setup.openers_about(topic)
            return [topic] * count
        _require_count("topic", len(several("topic", topic)), count)
        each_row(self._setup.openers_about, topic)
        return topic

    def _with_prompts(self, prompts: Sequence[Prompt]) -> list[Setup]:
        """A setup for each prompt, one for equal ones."""
        made: dict[str | Chat | tuple[int, ...], Setup] = {}
        setups, width = list[Setup](), self._setup.model.logit_width
        for row, prompt in enumerate(prompts):
            with error_names_row(row):
                if isinstance(prompt, str | Chat):
                    key: str | Chat | tuple[int, ...] = prompt
                else:
                    key = tuple(checked_ids(prompt, width))
                if key not in made:
                    made[key] = self._setup.with_prompt(prompt)
            setups.append(made[key])
        return setups


def _require_count(name: str, found: int, expected: int) -> None:
    require(found == expected, name, f"one for each of {expected} texts", found)
