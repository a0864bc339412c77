"""The token lists that cases of the soak test start with.

Some are real text. Others hold what real text rarely has: a run of 64 spaces, 32 combining marks on
one letter, a chat. An engine that is right everywhere else can be wrong there.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from ticore.interfaces import Tokenizer

from .snippets import fragment, mixed

Opening = Callable[[random.Random, Tokenizer, Sequence[str]], list[int]]

_LONGEST = 150  # tokens of ordinary text
# Powers of two, since code that looks at a window of fixed size mostly takes a power of two.
_LENGTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 300)
_UNITS = (
    *" \n\taA0-=.'\u00e9\u4e2d\u3042\u0301\u200b\u3000\U0001f469\u2019\u30fc\u0915\u0e01\uac00",
    *("\r\n", " \n", "ab", "ACGT", "\u4eca\u65e5\u306f", "\U0001f469\u200d", "a\u0301", "1a"),
    *(
        "'s",
        " '",
        "12",
        "1,",
        "\u0661\u0662",
        " a",
        ". ",
        "\n\n ",
        "\u0915\u094d",
        "\U0001f1ef\U0001f1f5",
    ),
)
_LETTERS = "aeionuAEO\u3046\u304b\u0915\u1112\u0391"
# Their combining classes differ, so that some reorder, some block others, and some compose.
_MARKS = (
    "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030c\u0316\u031b\u0323\u0327\u0328\u0331"
    "\u0338\u0345\u3099\u1161\u11a8"
)


def text(draw: random.Random, tokenizer: Tokenizer, texts: Sequence[str]) -> list[int]:
    """A passage of real text."""
    whole = draw.choice(texts)
    start = draw.randrange(len(whole))
    return _cut(draw, tokenizer.encode(whole[start : start + 4 * _LONGEST]))


def snippets(draw: random.Random, tokenizer: Tokenizer, texts: Sequence[str]) -> list[int]:
    """Snippets that tokenizers treat specially, between fragments of real text."""
    return _cut(draw, tokenizer.encode(mixed(draw, texts)))


def run(draw: random.Random, tokenizer: Tokenizer, texts: Sequence[str]) -> list[int]:
    """One character or a few, repeated up to 300 times, mostly after some text."""
    # Spaces have more special rules than any other character.
    unit = " " if draw.random() < 0.25 else draw.choice(_UNITS)
    repeated = unit * _length(draw)
    before = draw.choice(("", "a", fragment(draw, texts, 20)))
    after = draw.choice(("", "", fragment(draw, texts, 10)))
    return tokenizer.encode(before + repeated + after)


def marks(draw: random.Random, tokenizer: Tokenizer, texts: Sequence[str]) -> list[int]:
    """Many combining marks on one letter."""
    kinds = draw.sample(_MARKS, k=draw.randint(1, 4))
    count = min(_length(draw), 130)
    above = "".join(draw.choice(kinds) for _ in range(count))
    after = draw.choice(("", "", draw.choice(_MARKS)))
    return tokenizer.encode(fragment(draw, texts, 10) + draw.choice(_LETTERS) + above + after)


def chat(draw: random.Random, tokenizer: Tokenizer, texts: Sequence[str]) -> list[int]:
    """Messages between special tokens, some of them empty."""
    special = sorted(tokenizer.special_ids)
    ids: list[int] = []
    for _ in range(draw.randint(1, 5) if special else 0):
        ids += draw.choices(special, k=draw.randint(1, 2))
        message = draw.choice(("", "user\n", mixed(draw, texts), fragment(draw, texts, 60)))
        ids += tokenizer.encode(message)
    return _cut(draw, ids)


def added(draw: random.Random, tokenizer: Tokenizer, texts: Sequence[str]) -> list[int]:
    """Added tokens' texts, whole, doubled or in parts, with and without something between them."""
    structure = tokenizer.structure()
    known = [] if structure is None else sorted(structure.added_tokens)
    parts = []
    for _ in range(draw.randint(2, 12)):
        whole = draw.choice(known or ["<|endoftext|>", "\n\n", "  "])
        start, end = sorted((draw.randint(0, len(whole)), draw.randint(0, len(whole))))
        parts.append(draw.choice((whole, 2 * whole, whole[:end], whole[start:], whole[start:end])))
        parts.append(draw.choice(("", "", " ", "  ", "\n", "a", " a", fragment(draw, texts, 8))))
    return _cut(draw, tokenizer.encode("".join(parts)))


def vocabulary(draw: random.Random, tokenizer: Tokenizer, texts: Sequence[str]) -> list[int]:
    """A text of tokens drawn from the whole vocabulary: rare scripts, code, parts of characters."""
    ids = [draw.randrange(tokenizer.vocab_size) for _ in range(draw.randint(1, 30))]
    special = tokenizer.special_ids
    return _cut(draw, tokenizer.encode(tokenizer.decode([i for i in ids if i not in special])))


OPENINGS: dict[str, Opening] = {
    opening.__name__: opening for opening in (text, snippets, run, marks, chat, added, vocabulary)
}


def _length(draw: random.Random) -> int:
    """A power of two up to 256, or 300, or one more or less."""
    return max(1, draw.choice(_LENGTHS) + draw.choice((-1, 0, 0, 1)))


def _cut(draw: random.Random, ids: list[int]) -> list[int]:
    return ids[: draw.randint(0, _LONGEST)]
