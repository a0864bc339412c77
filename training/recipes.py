"""What each bundled model is made of: its sizes, its corpus, its tokenizer."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .corpora import Corpus, chinese, english, japanese
from .sizes import LlamaConfig
from .tokenizers import ByteLevelBpe, SentencePieceBpe, TokenizerKind

# 5.9 million parameters: 11.7 MB in float16, deep and narrow, which reads best at this size.
_ENGLISH_SIZES = LlamaConfig(
    vocab_size=4096,
    hidden_size=256,
    intermediate_size=640,
    num_hidden_layers=7,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=2048,
    rms_norm_eps=1e-5,
    rope_theta=10000.0,
    tie_word_embeddings=True,
    bos_token_id=1,
    eos_token_id=2,
)
# Japanese and Chinese have more characters: the 2,000 commonest are 99 % of a Japanese text.
_MORE_CHARACTERS = 6144


@dataclass(frozen=True)
class Recipe:
    """How a model is made.

    Attributes:
        sizes: of the network.
        load: reads the corpus in a folder.
        sentence_start: its matches end where sentences of the language begin.
        tokenizer: the kind of its tokenizer, with the same number of tokens as `sizes`.
    """

    sizes: LlamaConfig
    load: Callable[[Path], Corpus]
    sentence_start: re.Pattern[str]
    tokenizer: TokenizerKind


RECIPES = {
    "tiny-en": Recipe(
        sizes=_ENGLISH_SIZES,
        load=english.load,
        sentence_start=english.SENTENCE_START,
        tokenizer=SentencePieceBpe(_ENGLISH_SIZES.vocab_size, coverage=0.9999),
    ),
    "tiny-ja": Recipe(
        sizes=dataclasses.replace(_ENGLISH_SIZES, vocab_size=_MORE_CHARACTERS),
        load=japanese.load,
        sentence_start=japanese.SENTENCE_START,
        tokenizer=SentencePieceBpe(_MORE_CHARACTERS, coverage=0.99),
    ),
    "tiny-zh": Recipe(
        sizes=dataclasses.replace(
            _ENGLISH_SIZES, vocab_size=_MORE_CHARACTERS, bos_token_id=0, eos_token_id=0
        ),
        load=chinese.load,
        sentence_start=chinese.SENTENCE_START,
        tokenizer=ByteLevelBpe(_MORE_CHARACTERS),
    ),
}
