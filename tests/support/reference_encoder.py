"""Encodes exactly as a TokenizerStructure says: slow, short, and without a tokenizer's library.

If this gives what `encode` gives, the structure describes the tokenizer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import regex

from ticore.consistency._tokenizer_rules.characters import is_doubtful
from ticore.interfaces import NamingTokenizer, Tokenizer, TokenizerStructure

UNKNOWN = -1
"""Stands for the id that a tokenizer gives for characters that it does not know."""

UNWRITTEN = -2

Symbol = tuple[bytes, int]
"""What is merged: bytes of the text, and their id."""


class ReferenceEncoder:
    """Encodes as `structure` says. Of the tokenizer it uses token bytes and special ids alone."""

    def __init__(self, tokenizer: Tokenizer, structure: TokenizerStructure) -> None:
        self.structure = structure
        self.special_ids = tokenizer.special_ids
        pieces = np.flatnonzero(structure.pieces).tolist()
        self.ids = {tokenizer.token_bytes(i): i for i in pieces}
        assert len(self.ids) == len(pieces), "two pieces are spelled alike"
        longest_first = sorted(structure.added_tokens, key=len, reverse=True)
        self.added = regex.compile("|".join(map(regex.escape, longest_first)) or "(?!)")
        self.unknown_added = unknown_added(tokenizer, structure)
        self.patterns = [regex.compile(pattern) for pattern in structure.pretokenizer]
        rules = [] if structure.merges is None else structure.merges.tolist()
        self.rules = {(left, right): (n, new) for n, (left, right, new) in enumerate(rules)}
        unwritten = {text.encode(): score for text, score in structure.unwritten_pieces.items()}
        self.unwritten = unwritten
        self.longest = max(map(len, [*self.ids, *unwritten]))

    def encode(self, text: str) -> list[int]:
        """Ids of `text`, up to the first special token in it.

        A structure does not describe what follows a special token: some tokenizers treat it as a
        new text, with a dummy prefix.
        """
        ids: list[int] = []
        for stretch, added in self.stretches(text):
            for part in self.parts(stretch):
                ids += self.encode_part(part)
            if added is not None:
                ids.append(added)
            if added in self.special_ids:
                break
        if self.unknown_added and not self.unknown_added.isdisjoint(ids):
            first = next(n for n, i in enumerate(ids) if i in self.unknown_added)
            ids = [*ids[:first], UNKNOWN]
        return [i for before, i in pairwise([None, *ids]) if (before, i) != (UNKNOWN, UNKNOWN)]

    def stretches(self, text: str) -> Iterator[tuple[str, int | None]]:
        """The text between added tokens, each stretch with the added token after it."""
        structure = self.structure
        if structure.atoms == "characters" and structure.normalize is None:
            text = text.replace("▁", " ")  # the libraries' own sign for a space
        first = self.added.match(text)
        begins_special = first and structure.added_tokens[first[0]] in self.special_ids
        prefix = " " if structure.dummy_prefix and text and not begins_special else ""
        text, start = prefix + text, 0
        for match in [*self.added.finditer(text), None]:
            stretch = text[start : match.start() if match else None]
            begins = prefix if start == 0 and stretch else ""
            normal = self.normalize(stretch.removeprefix(begins))
            # Where spaces are squeezed, nothing is left of a prefix alone.
            if not (normal or structure.keeps_whitespace):
                begins = ""
            yield begins + normal, match and structure.added_tokens[match[0]]
            start = match.end() if match else 0

    def normalize(self, text: str) -> str:
        return self.structure.normalize(text) if self.structure.normalize else text

    def parts(self, text: str) -> list[str]:
        """The parts into which the pretokenizer splits a text: matches, and the text between."""
        parts = [text]
        for pattern in self.patterns:
            ends = [
                sorted({0, len(part), *(end for m in pattern.finditer(part) for end in m.span())})
                for part in parts
            ]
            parts = [
                part[start:end]
                for part, cuts in zip(parts, ends, strict=True)
                for start, end in pairwise(cuts)
            ]
        return [part for part in parts if part]

    def encode_part(self, part: str) -> list[int]:
        if self.structure.kind == "unigram":
            return self.most_probable(part)
        if self.structure.ignore_merges and part.encode() in self.ids:
            return [self.ids[part.encode()]]
        return self.merge(self.symbols(part))

    def symbols(self, text: str) -> list[Symbol]:
        """The atoms of a text. Bytes of an unknown character have no text, so they never merge."""
        if self.structure.atoms == "bytes":
            return [(bytes([byte]), self.ids[bytes([byte])]) for byte in text.encode()]
        if self.structure.ranks is not None:  # an unknown character has a text to merge by
            return [(c.encode(), self.ids.get(c.encode(), UNKNOWN)) for c in text]
        return [symbol for character in text for symbol in self.known_or_bytes(character.encode())]

    def known_or_bytes(self, character: bytes) -> list[Symbol]:
        if character in self.ids:
            return [(character, self.ids[character])]
        if self.structure.byte_ids:
            return [(b"", self.structure.byte_ids[byte]) for byte in character]
        return [(b"", UNKNOWN)]

    def merge(self, symbols: list[Symbol]) -> list[int]:
        """Best-first merging: the lowest rank first, and of equal ranks the leftmost."""
        pairs = [self.find_rule(*pair) for pair in pairwise(symbols)]
        while any(pairs):
            _, at, new = min((pair[0], at, pair[1]) for at, pair in enumerate(pairs) if pair)
            symbols[at : at + 2] = [(symbols[at][0] + symbols[at + 1][0], new)]
            del pairs[at]
            for near in (at - 1, at):
                if 0 <= near < len(pairs):
                    pairs[near] = self.find_rule(*symbols[near : near + 2])
        return [
            token
            for data, found in symbols
            for _, token in (self.known_or_bytes(data) if found == UNKNOWN else [(data, found)])
        ]

    def find_rule(self, left: Symbol, right: Symbol) -> tuple[int, int] | None:
        """The rank at which two neighbours merge, and into what; None if no rule joins them."""
        if self.structure.ranks is None:
            return self.rules.get((left[1], right[1]))
        new = self.ids.get(left[0] + right[0]) if left[0] and right[0] else None
        return None if new is None else (int(self.structure.ranks[new]), new)

    def most_probable(self, text: str) -> list[int]:
        """SentencePiece's Viterbi search.

        Of equally probable ways it takes the one whose last token begins earlier.
        """
        scores = self.structure.scores
        assert scores is not None
        sums = scores.dtype.type
        unknown = scores[self.structure.pieces].min() - sums(10)
        if self.structure.unknown_score is not None:
            unknown = sums(self.structure.unknown_score)
        ends = [len(text[:n].encode()) for n in range(len(text) + 1)]
        data, best = text.encode(), {0: (sums(0), 0, UNKNOWN)}
        for start, after in pairwise(ends):
            found = {}
            for end in range(start + 1, min(len(data), start + self.longest) + 1):
                if (token := self.ids.get(data[start:end])) is not None:
                    found[end] = (scores[token], token)
                elif (score := self.unwritten.get(data[start:end])) is not None:
                    found[end] = (sums(score), UNWRITTEN)
            found.setdefault(after, (unknown, UNKNOWN))
            for end, (score, token) in found.items():
                total = best[start][0] + score
                if end not in best or total > best[end][0]:
                    best[end] = (total, start, token)
        tokens, end = [], len(data)
        while end:
            _, start, token = best[end]
            spelled = reversed([i for _, i in self.known_or_bytes(data[start:end])])
            # An id that is not decoded as its text is as good as an unknown one.
            tokens += spelled if token == UNKNOWN else [UNKNOWN if token == UNWRITTEN else token]
            end = start
        return tokens[::-1]


def is_read_alike(text: str) -> bool:
    """Whether all libraries agree on the classes of the characters.

    They disagree on new characters, by Unicode version, and on U+0295, whose case was changed.
    """
    return not any(c == "\u0295" or is_doubtful(c) for c in text)


def unknown_added(tokenizer: Tokenizer, structure: TokenizerStructure) -> frozenset[int]:
    """What stands for unknown characters, if that is an added token too; empty if it is not.

    Such an id may stand for its own name, after which a structure says nothing.
    """
    unknown = tokenizer.unknown_ids if isinstance(tokenizer, NamingTokenizer) else frozenset[int]()
    found = unknown & frozenset(structure.added_tokens.values())
    return found | {UNKNOWN} if found else found


def comparable(
    ids: Sequence[int], tokenizer: Tokenizer, structure: TokenizerStructure
) -> list[int]:
    """What `encode` gave, in the form that ReferenceEncoder gives.

    A run of unknown characters becomes one `UNKNOWN`: libraries differ in whether such a run is one
    token, and a structure does not say.
    """
    added = frozenset(structure.added_tokens.values())
    unknown_too = unknown_added(tokenizer, structure)
    found: list[int] = []
    for token in ids:
        if token in unknown_too:
            return [*found, UNKNOWN]
        unknown = token in tokenizer.special_ids and token not in added
        if not (unknown and found[-1:] == [UNKNOWN]):
            found.append(UNKNOWN if unknown else token)
        if token in tokenizer.special_ids & added:
            break
    return found
