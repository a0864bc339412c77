"""Inconsistent candidates masked at each step, for callers of llama-cpp-python itself.

processor = ConsistentLogitsProcessor(tokenizer, eos_ids=[llm.token_eos()])
answer = llm(prompt, logits_processor=LogitsProcessorList([processor]))
processor.check()
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ticore.backend_kit import checked_ids, require_integer, require_tokenizer_of_model
from ticore.consistency import Verifier, View, packed_masks
from ticore.errors import SettingsError
from ticore.interfaces import Tokenizer
from ticore_masks import FollowedText, verification_of


class ConsistentLogitsProcessor:
    """Gives -inf to each candidate that would make the text inconsistent. Use one for each text.

    llama.cpp calls it through C, where an error would be printed and the candidates left unmasked.
    So where the text cannot be held consistent only `eos_ids` are left, which end it, and `check`
    raises the error.

    Args:
        tokenizer: the receiver's, as `ticore.load_tokenizer` or another library opens it; its ids
            are the model's. `tokenizers:FILE.gguf` and `sentencepiece:FILE.gguf` are the file's.
        eos_ids: ids that may end the text; at least one.
        prompt_length: how many ids are the prompt, the start token included. None for all that are
            there at the first call.
        view: what the receiver retokenizes: the `continuation`, or the `whole`. Of the whole,
            special ids at its beginning are left out; those of a chat are kept, and what is between
            them is read by itself, see `ticore.Verifier`.

    Raises:
        SettingsError: `eos_ids` is empty or not the tokenizer's; `prompt_length` is negative;
            `tokenizer` is not a tokenizer.
    """

    def __init__(
        self,
        tokenizer: Tokenizer | object,
        *,
        eos_ids: Iterable[int],
        prompt_length: int | None = None,
        view: View = "continuation",
    ) -> None:
        if prompt_length is not None:
            prompt_length = require_integer("prompt_length", prompt_length, 0)
        self._verifier = Verifier(tokenizer, mode="prefix", view=view)
        self._eos_ids = checked_ids(list(eos_ids), self._verifier.tokenizer.vocab_size)
        if not self._eos_ids:
            raise SettingsError("eos_ids: expected at least one id that ends a text, found none")
        self._prompt_length = prompt_length
        self._prompt: list[int] = []
        self._text: FollowedText | None = None
        self._failure: Exception | None = None

    def __call__(self, input_ids: npt.NDArray[np.intc], scores: npt.NDArray[np.single]) -> Any:
        """The scores float32[width], masked, for the token that follows int32[n]."""
        allowed = np.zeros(len(scores), bool)
        try:
            if self._failure is None:
                words = self._allowed(input_ids.tolist(), len(scores))
                data = words.astype("<u4", copy=False).view(np.uint8)
                allowed[:] = np.unpackbits(data, count=len(scores), bitorder="little")
        except Exception as error:  # any that left this function would be lost
            self._failure = error
        if self._failure is not None:
            allowed[[token for token in self._eos_ids if token < len(scores)]] = True
        return np.where(allowed, scores, np.float32(-np.inf))

    def check(self) -> None:
        """Raise what ended the text early, if anything did.

        Raises:
            SettingsError: the tokenizer's ids are not the model's; or it was used for two texts.
            InconsistentStateError: the text became inconsistent, because of another processor.
            PromptError: in view `whole`, the prompt is not consistent.
        """
        if self._failure is not None:
            raise self._failure

    def _allowed(self, ids: list[int], width: int) -> npt.NDArray[np.uint32]:
        """One bit per token: uint32[words]."""
        require_tokenizer_of_model(self._verifier.tokenizer, width)
        if self._text is None:
            self._prompt = ids[: self._prompt_length]
            self._text = FollowedText(verification_of(self._verifier, self._prompt))
        length = len(self._prompt)
        if ids[:length] != self._prompt:
            raise SettingsError(
                "expected one processor for each text, found another prompt than before; "
                "make a new ConsistentLogitsProcessor"
            )
        text = self._text.follow(ids[length:])
        (words,) = packed_masks([text], end_ids=self._eos_ids)
        return cast(npt.NDArray[np.uint32], words)
