"""Whether a tokenizer belongs to a model. Ids of another one mean other tokens to the model."""

from __future__ import annotations

from typing import Protocol

from ..errors import SettingsError
from .common_beginning import common_length

# No published model has more logits without a token than about 1,100: vocabularies are padded to a
# round number, or leave room for more special tokens.
_MOST_SPARE = 4096
# Words, a number, spaces and signs, on which tokenizers of different models hardly ever agree.
_PROBE = "The quick brown fox, aged 12,\n  doesn't jump over 3 naïve dogs; 東京へ行く。"


class OwnTokenizer(Protocol):
    """A tokenizer, as far as it is looked at here."""

    @property
    def vocab_size(self) -> int: ...

    @property
    def special_ids(self) -> frozenset[int]: ...

    def encode(self, text: str) -> list[int]: ...


def require_tokenizer_of_model(
    tokenizer: OwnTokenizer, logit_width: int, own: OwnTokenizer | None = None
) -> None:
    """Refuse a tokenizer that cannot be the model's.

    Special ids may lie above the logits: some tokenizers got them after the model was trained.

    Args:
        tokenizer: the one that was given.
        logit_width: the model's number of logits.
        own: the model's own tokenizer, where it is at hand. Both must give the same ids for a short
            text.

    Raises:
        SettingsError: an ordinary id has no logit, far too many logits have no id, or the two
            tokenizers differ.
    """
    size = tokenizer.vocab_size
    has_logits = set(range(logit_width, size)) <= tokenizer.special_ids
    if not has_logits or logit_width - size > _MOST_SPARE:
        raise SettingsError(
            f"expected the tokenizer of the model, which has {logit_width} logits, found one of "
            f"{size} ids; give the one from the model's own directory"
        )
    if own is None:
        return
    found, expected = tokenizer.encode(_PROBE), own.encode(_PROBE)
    if found != expected:
        at = common_length(found, expected)
        raise SettingsError(
            f"expected the tokenizer of the model, which reads {_PROBE[:20]!r}... as "
            f"{expected[at : at + 4]} from token {at} on, found one that reads "
            f"{found[at : at + 4]} there; give the one from the model's own directory"
        )
