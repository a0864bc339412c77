"""Tokenizers for the tests: small ones, trained here in milliseconds, and real ones from files.

`TRAINED` and `REAL` map names to functions that open a tokenizer, once in each process. A real
tokenizer whose files are absent skips the test that asks for it.
"""

from __future__ import annotations

import io
import json
import os
import random
from collections.abc import Callable
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path

import pytest
import sentencepiece
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    trainers,
)

from ticore.backend_kit import byte_alphabet
from ticore.interfaces import Tokenizer as AnyTokenizer
from ticore_sentencepiece import SentencePieceTokenizer
from ticore_tiktoken import TiktokenTokenizer
from ticore_tiktoken._ranks import parse_ranks
from ticore_tokenizers import HuggingFaceTokenizer

DATA = Path(os.environ.get("TICORE_DATA", Path(__file__).parents[3] / "shared" / "data"))

CL100K_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

O200K_PATTERN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

# What a part of the text is cut out by before GPT-2's expression splits the rest, as DeepSeek does.
SPLIT_FIRST = (r"\p{N}{1,2}", "[\u3040-\u30ff\u4e00-\u9fff]+")

# Scripts with and without spaces, runs of spaces, code, and characters that NFKC changes.
FRAGMENTS = (
    "the quick brown fox jumps over the lazy dog",
    "she sells sea shells; they're hers, aren't they? I'd say so.",
    "In 1984 it cost $3.50, in 2024 12345.",
    "    for i in range(10):\n        print(i)  # twice\n\n",
    "トークン化は可逆ではない。日本語には空白がない。",
    "東京都の人口は、大阪の人口より多い。",
    "Съешь ещё этих мягких французских булок",
    "naïve café, Zu\u0308rich, \ufb01n, ﾊﾝｶｸ, １２３",
    "한국어 문장도 있다",
    "😀 👍🏽 👨\u200d👩\u200d👧",
    "\ttabs\tand  two  spaces ",
)


def sample_text(paragraphs: int = 150, seed: int = 0) -> list[str]:
    """Lines that mix the fragments and their words, the same for the same seed."""
    draw = random.Random(seed)
    words = [word for fragment in FRAGMENTS for word in fragment.split()]
    return [
        " ".join([draw.choice(FRAGMENTS), *draw.choices(words, k=draw.randint(3, 12))])
        for _ in range(paragraphs)
    ]


def train_sentencepiece(**settings: object) -> SentencePieceTokenizer:
    """A SentencePiece model of about 600 pieces. Reads text as it is unless told otherwise."""
    model = io.BytesIO()
    defaults: dict[str, object] = {
        "model_type": "bpe",
        "vocab_size": 600,
        "byte_fallback": True,
        "normalization_rule_name": "identity",
        "remove_extra_whitespaces": False,
        "hard_vocab_limit": False,
        "num_threads": 1,
        "minloglevel": 2,
    }
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sample_text()), model_writer=model, **defaults | settings
    )
    return SentencePieceTokenizer(model.getvalue())


def train_byte_level(
    split: pre_tokenizers.PreTokenizer, normalizer: normalizers.Normalizer | None = None
) -> HuggingFaceTokenizer:
    """Byte-level BPE of 600 tokens, GPT-2's way."""
    tokenizer = Tokenizer(models.BPE())
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = split
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<|endoftext|>"],
        show_progress=False,
    )
    tokenizer.train_from_iterator(sample_text(), trainer)
    return HuggingFaceTokenizer(tokenizer)


@cache
def byte_level_with_added() -> HuggingFaceTokenizer:
    """A trained tokenizer with added tokens that are not special, and of which some may overlap."""
    library = Tokenizer.from_str(_library(HUGGING_FACE["hf-gpt2"]()).to_str())
    texts = ("<t>", "<t>>", "<|tool|>", "\t<", "   ", "a b")
    library.add_tokens([AddedToken(text, normalized=False) for text in texts])
    return HuggingFaceTokenizer(library)


@cache
def byte_level_with_digits_apart() -> HuggingFaceTokenizer:
    """Bytes, two line ends, and 123. Three digits are cut out before GPT-2's expression splits."""
    vocab = {letter: n for n, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    merges = [("Ċ", "Ċ"), ("1", "2"), ("12", "3")]
    vocab |= {"".join(merge): n for n, merge in enumerate(merges, len(vocab))}
    library = Tokenizer(models.BPE(vocab, merges))
    library.pre_tokenizer = _isolated(r"\d{3}", then_gpt2=True)
    library.decoder = decoders.ByteLevel()
    return HuggingFaceTokenizer(library)


def train_ignoring_merges() -> HuggingFaceTokenizer:
    """Byte-level BPE with tokens that stand for a whole part of the text and for nothing else.

    It has no rule for every second token that no other is made of.
    """
    state = json.loads(_library(train_byte_level(_isolated(CL100K_PATTERN))).to_str())
    model = state["model"]
    used = {part for merge in model["merges"] for part in merge}
    leaves = [merge for merge in model["merges"] if "".join(merge) not in used]
    dropped = leaves[::2]
    model["merges"] = [merge for merge in model["merges"] if merge not in dropped]
    model["ignore_merges"] = True
    return HuggingFaceTokenizer(Tokenizer.from_str(json.dumps(state)))


def ranks_of_trained() -> dict[bytes, int]:
    """Ranks as tiktoken has them: bytes, then tokens in the order of merges. One is left out."""
    tokenizer = train_byte_level(_isolated(O200K_PATTERN))
    model = json.loads(_library(tokenizer).to_str())["model"]
    ids = [model["vocab"]["".join(merge)] for merge in model["merges"]]
    tokens = [bytes([byte]) for byte in range(256)] + [tokenizer.token_bytes(i) for i in ids]
    ranks = {token: n for n, token in enumerate(dict.fromkeys(tokens))}
    return {token: rank + (rank > 400) for token, rank in ranks.items()}


def from_ranks(ranks: dict[bytes, int], pattern: str, special: list[str]) -> HuggingFaceTokenizer:
    """The tokenizer.json into which a file of ranks is converted, ids and all.

    A rule stands for each way to make a token of two others, in the order of the tokens' ranks,
    and of their halves'.
    """
    names = {byte: name for name, byte in byte_alphabet().items()}
    vocab = {"".join(names[byte] for byte in token): rank for token, rank in ranks.items()}
    rules = sorted(
        (rank, ranks[token[:n]], ranks[token[n:]])
        for token, rank in ranks.items()
        for n in range(1, len(token))
        if token[:n] in ranks and token[n:] in ranks
    )
    spelled = {rank: name for name, rank in vocab.items()}
    merges = [(spelled[left], spelled[right]) for _, left, right in rules]
    tokenizer = Tokenizer(models.BPE(vocab, merges, ignore_merges=True))
    tokenizer.pre_tokenizer = _isolated(pattern)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(special)
    return HuggingFaceTokenizer(tokenizer)


def train_llama_like() -> HuggingFaceTokenizer:
    """BPE with byte fallback, in the form into which Llama's SentencePiece model is converted."""
    names = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    trained = _train_metaspace_bpe()
    vocab = {name: i for i, name in enumerate([*names, *sorted(trained["vocab"])])}
    merges = [tuple(pair) for pair in trained["merges"]]
    tokenizer = Tokenizer(
        models.BPE(vocab, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    )
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    tokenizer.decoder = decoders.Sequence(
        [
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    tokenizer.add_special_tokens(names[:3])
    return HuggingFaceTokenizer(tokenizer)


def train_metaspace() -> HuggingFaceTokenizer:
    """BPE whose spaces are the Metaspace pre-tokenizer's and decoder's work; no byte fallback."""
    trained = _train_metaspace_bpe()
    vocab = {name: i for i, name in enumerate(["<unk>", *sorted(trained["vocab"])])}
    merges = [tuple(pair) for pair in trained["merges"]]
    tokenizer = Tokenizer(models.BPE(vocab, merges, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    return HuggingFaceTokenizer(tokenizer)


def _train_metaspace_bpe() -> dict[str, object]:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.train_from_iterator(
        sample_text(), trainers.BpeTrainer(vocab_size=400, show_progress=False)
    )
    return json.loads(tokenizer.to_str())["model"]


def _isolated(*patterns: str, then_gpt2: bool = False) -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Sequence(
        [
            *(pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in patterns),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=then_gpt2),
        ]
    )


def _library(tokenizer: HuggingFaceTokenizer) -> Tokenizer:
    return tokenizer._library


def _gpt2_split() -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.ByteLevel(add_prefix_space=False)


# SentencePiece's own defaults: a map that rewrites characters, and spaces squeezed.
_DEFAULT_TEXT = {"normalization_rule_name": "nmt_nfkc", "remove_extra_whitespaces": True}

SENTENCEPIECE: dict[str, Callable[[], SentencePieceTokenizer]] = {
    "sp-bpe": cache(train_sentencepiece),
    "sp-bpe-no-bytes": cache(partial(train_sentencepiece, byte_fallback=False)),
    "sp-bpe-no-prefix": cache(partial(train_sentencepiece, add_dummy_prefix=False)),
    "sp-bpe-nfkc": cache(partial(train_sentencepiece, **_DEFAULT_TEXT)),
    "sp-bpe-added": cache(
        partial(train_sentencepiece, user_defined_symbols=["<doc>", "▁the▁", "[PAR]"])
    ),
    "sp-unigram": cache(partial(train_sentencepiece, model_type="unigram")),
    "sp-unigram-no-bytes-no-prefix": cache(
        partial(
            train_sentencepiece, model_type="unigram", byte_fallback=False, add_dummy_prefix=False
        )
    ),
    "sp-unigram-nfkc": cache(partial(train_sentencepiece, model_type="unigram", **_DEFAULT_TEXT)),
    "sp-unigram-added-nfkc": cache(
        partial(
            train_sentencepiece,
            model_type="unigram",
            byte_fallback=False,
            user_defined_symbols=["<doc>", "(", "[PAR]", "sh", "ells"],
            **_DEFAULT_TEXT,
        )
    ),
}

HUGGING_FACE: dict[str, Callable[[], HuggingFaceTokenizer]] = {
    "hf-gpt2": cache(lambda: train_byte_level(_gpt2_split())),
    "hf-cl100k": cache(lambda: train_byte_level(_isolated(CL100K_PATTERN))),
    "hf-cl100k-nfc": cache(lambda: train_byte_level(_isolated(CL100K_PATTERN), normalizers.NFC())),
    "hf-o200k": cache(lambda: train_byte_level(_isolated(O200K_PATTERN))),
    "hf-two-splits": cache(lambda: train_byte_level(_isolated(*SPLIT_FIRST, then_gpt2=True))),
    "hf-ignore-merges": cache(train_ignoring_merges),
    "hf-llama": cache(train_llama_like),
    "hf-metaspace": cache(train_metaspace),
}

TIKTOKEN: dict[str, Callable[[], TiktokenTokenizer]] = {
    "tiktoken-small": cache(lambda: TiktokenTokenizer(ranks_of_trained(), "o200k")),
}

TRAINED: dict[str, Callable[[], AnyTokenizer]] = {**SENTENCEPIECE, **HUGGING_FACE, **TIKTOKEN}


@cache
def _open_sentencepiece(name: str) -> SentencePieceTokenizer:
    return SentencePieceTokenizer.from_file(_file(name))


@cache
def _open_hugging_face(name: str) -> HuggingFaceTokenizer:
    return HuggingFaceTokenizer.from_file(_file(name))


@cache
def _open_gpt2() -> HuggingFaceTokenizer:
    vocab, merges = _file("gpt2/encoder.json"), _file("gpt2/vocab.bpe")
    tokenizer = Tokenizer(models.BPE.from_file(str(vocab), str(merges)))
    tokenizer.pre_tokenizer = _gpt2_split()
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<|endoftext|>"])
    return HuggingFaceTokenizer(tokenizer)


@cache
def _open_llama_3() -> TiktokenTokenizer:
    return TiktokenTokenizer.from_file(_file("llama-3/tokenizer.model"), "llama3")


LLAMA_3_SPECIAL = {
    "<|begin_of_text|>": 128_000,
    "<|end_of_text|>": 128_001,
    **{f"<|reserved_special_token_{n}|>": 128_002 + n for n in range(4)},
    "<|start_header_id|>": 128_006,
    "<|end_header_id|>": 128_007,
    "<|reserved_special_token_4|>": 128_008,
    "<|eot_id|>": 128_009,
}
"""The first special tokens of Llama 3, those of its chats among them."""


@cache
def _convert_llama_3() -> HuggingFaceTokenizer:
    ranks = parse_ranks(_file("llama-3/tokenizer.model").read_bytes())
    return from_ranks(ranks, CL100K_PATTERN, list(LLAMA_3_SPECIAL))


@cache
def _open_mistral(name: str) -> SentencePieceTokenizer:
    # The package is only asked where it lies: its SentencePiece files are all that is of use here.
    spec = find_spec("mistral_common")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("the package mistral-common is not installed")
    return SentencePieceTokenizer.from_file(Path(spec.submodule_search_locations[0], "data", name))


def _file(name: str) -> Path:
    path = DATA / "tokenizers" / name
    if not path.exists():
        pytest.skip(f"{path} is absent; TICORE_DATA names the folder that holds tokenizers/")
    return path


REAL_SENTENCEPIECE: dict[str, Callable[[], SentencePieceTokenizer]] = {
    "llama-2": partial(_open_sentencepiece, "llama-2/tokenizer.model"),
    "swallow": partial(_open_sentencepiece, "swallow/tokenizer.model"),
    "llm-jp": partial(_open_sentencepiece, "llm-jp/v2.1.model"),
    "mistral-v1": partial(_open_mistral, "tokenizer.model.v1"),
    "mistral-v3": partial(_open_mistral, "mistral_instruct_tokenizer_240323.model.v3"),
    "mistral-v7": partial(_open_mistral, "mistral_instruct_tokenizer_241114.model.v7"),
}

REAL_HUGGING_FACE: dict[str, Callable[[], HuggingFaceTokenizer]] = {
    "gpt2": _open_gpt2,
    "qwen2.5": partial(_open_hugging_face, "qwen2.5/tokenizer.derived.json"),
    "llama-2-json": partial(_open_hugging_face, "llama-2/tokenizer.derived.json"),
    "llama-3-json": _convert_llama_3,
    "t5": partial(_open_hugging_face, "t5/tokenizer.json"),
}

REAL_TIKTOKEN: dict[str, Callable[[], TiktokenTokenizer]] = {"llama-3": _open_llama_3}

REAL: dict[str, Callable[[], AnyTokenizer]] = {
    **REAL_SENTENCEPIECE,
    **REAL_HUGGING_FACE,
    **REAL_TIKTOKEN,
}
