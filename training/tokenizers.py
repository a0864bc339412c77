"""A tokenizer of each kind: trained on a corpus, and read by the training run."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import sentencepiece
import tokenizers
from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, processors, trainers

from ticore._support.atomic_files import write_atomically

START_MARK = "<|endoftext|>"
# How Qwen2 splits a text: runs of letters, single digits, and the rest.
QWEN2_SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# Longer lines are code or tables.
_LONGEST_LINE = 4000


class TrainingTokenizer(Protocol):
    """What training needs of a tokenizer."""

    start: int
    """The token that every window begins with."""

    def encode(self, text: str) -> list[int]:
        """The ids of `text`."""

    def decode(self, ids: list[int]) -> str:
        """The text of `ids`."""


class TokenizerKind(Protocol):
    """A kind of tokenizer that can be trained."""

    file: str
    """Its file's name in a model's directory."""

    def train(self, texts: list[str], path: Path) -> None:
        """Train one on `texts`, and write it to `path`."""

    def open(self, path: Path) -> TrainingTokenizer:
        """Read the one at `path`."""


class SentencePieceBpe:
    """SentencePiece BPE with byte fallback, the flags of Llama-2's.

    Args:
        pieces: the size of the vocabulary.
        coverage: the share of all characters that get a piece of their own; the others are
            spelt in bytes.
    """

    file = "tokenizer.model"

    def __init__(self, pieces: int, coverage: float) -> None:
        self.pieces, self.coverage = pieces, coverage

    def train(self, texts: list[str], path: Path) -> None:
        """Train one on the lines of `texts`, and write it to `path`."""
        # Not by its name: the file would hold the path of the machine that it was trained on.
        written = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=_lines(texts),
            model_writer=written,
            vocab_size=self.pieces,
            model_type="bpe",
            byte_fallback=True,
            character_coverage=self.coverage,
            split_digits=True,
            normalization_rule_name="identity",
            remove_extra_whitespaces=False,
            allow_whitespace_only_pieces=True,
            input_sentence_size=200_000,
            shuffle_input_sentence=True,
            max_sentence_length=16_384,
            num_threads=2,
            minloglevel=1,
        )
        write_atomically(path, written.getvalue())

    def open(self, path: Path) -> TrainingTokenizer:
        """Read the one at `path`."""
        return _SentencePiece(path)


class ByteLevelBpe:
    """Byte-level BPE that splits and normalizes (NFC) as Qwen2 does.

    Each text is read after the one special token.

    Args:
        tokens: the size of the vocabulary.
    """

    file = "tokenizer.json"

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens

    def train(self, texts: list[str], path: Path) -> None:
        """Train one on the lines of `texts`, and write it to `path`."""
        tokenizer = tokenizers.Tokenizer(models.BPE())
        tokenizer.normalizer = normalizers.NFC()
        split = pre_tokenizers.Split(Regex(QWEN2_SPLIT), "isolated")
        byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, byte_level])
        tokenizer.decoder = decoders.ByteLevel()
        tokenizer.train_from_iterator(
            _lines(texts),
            trainers.BpeTrainer(
                vocab_size=self.tokens,
                special_tokens=[START_MARK],
                initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
                show_progress=False,
            ),
        )
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{START_MARK} $A",
            special_tokens=[(START_MARK, _id_of(START_MARK, tokenizer))],
        )
        write_atomically(path, tokenizer.to_str(pretty=False).encode())

    def open(self, path: Path) -> TrainingTokenizer:
        """Read the one at `path`."""
        return _ByteLevel(path)


class _SentencePiece:
    def __init__(self, path: Path) -> None:
        self._processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
        self.start: int = self._processor.bos_id()

    def encode(self, text: str) -> list[int]:
        ids: list[int] = self._processor.encode(text)
        return ids

    def decode(self, ids: list[int]) -> str:
        text: str = self._processor.decode(ids)
        return text


class _ByteLevel:
    def __init__(self, path: Path) -> None:
        self._tokenizer = tokenizers.Tokenizer.from_file(str(path))
        self.start = _id_of(START_MARK, self._tokenizer)

    def encode(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def decode(self, ids: list[int]) -> str:
        text: str = self._tokenizer.decode(ids)
        return text


def _id_of(token: str, tokenizer: tokenizers.Tokenizer) -> int:
    found = tokenizer.token_to_id(token)
    if found is None:
        raise ValueError(f"expected a tokenizer with the token {token}, found none")
    return found


def _lines(texts: list[str]) -> Iterator[str]:
    return (line for text in texts for line in text.split("\n") if 0 < len(line) < _LONGEST_LINE)
