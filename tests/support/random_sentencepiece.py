"""Random SentencePiece BPE models with what training seldom gives, opened by the library."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st
from sentencepiece import sentencepiece_model_pb2

from ticore_sentencepiece import SentencePieceTokenizer

ModelProto = sentencepiece_model_pb2.ModelProto
Piece = ModelProto.SentencePiece

# The last three share their first bytes. A loose one among them is told from the others by a byte.
LETTERS = "ab楂楃é"
_ODDITIES = "\u0327"


@dataclass(frozen=True)
class OddBpe:
    """A SentencePiece BPE model.

    Args:
        letters: single characters that are pieces, beside a space.
        scores: longer pieces, spelled with plain spaces, and their scores.
        added: user-defined pieces, spelled in the same way.
        never: user-defined pieces with plain spaces, which are never found.
        byte_fallback: characters that are no piece are spelled in bytes.
        prefix: a space is put before each text.
        squeezes: runs of spaces become one, and those at both ends are dropped.
        charsmap: see SentencePiece's `precompiled_charsmap`; that of `nmt_nfkc`.
    """

    letters: str = LETTERS
    scores: tuple[tuple[str, float], ...] = ()
    added: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    byte_fallback: bool = True
    prefix: bool = False
    squeezes: bool = False
    charsmap: bytes = b""

    def open(self) -> SentencePieceTokenizer:
        model = ModelProto()
        model.trainer_spec.model_type = 2
        model.trainer_spec.byte_fallback = self.byte_fallback
        model.normalizer_spec.add_dummy_prefix = self.prefix
        model.normalizer_spec.remove_extra_whitespaces = self.squeezes
        model.normalizer_spec.name = "nmt_nfkc" if self.charsmap else "identity"
        model.normalizer_spec.precompiled_charsmap = self.charsmap
        model.pieces.add(piece="<unk>", type=Piece.UNKNOWN)
        for byte in range(256 * self.byte_fallback):
            model.pieces.add(piece=f"<0x{byte:02X}>", type=Piece.BYTE)
        scores = dict.fromkeys(" " + self.letters, -9.0) | dict(self.scores)
        for text, score in scores.items():
            if text not in self.added:
                model.pieces.add(piece=text.replace(" ", "▁"), score=score, type=Piece.NORMAL)
        for text in (*(text.replace(" ", "▁") for text in self.added), *self.never):
            model.pieces.add(piece=text, type=Piece.USER_DEFINED)
        return SentencePieceTokenizer(model.SerializeToString())

    def ids_to_compare(self) -> list[int]:
        """All ids but most bytes."""
        tokenizer = self.open()
        characters = "".join((self.letters, LETTERS, _ODDITIES, *(text for text, _ in self.scores)))
        told = {*characters.encode(), *b" a\x80\xff"}
        return [
            i
            for i in range(1, tokenizer.vocab_size)
            if not (i <= 256 * self.byte_fallback) or i - 1 in told
        ]


@st.composite
def odd_bpe(draw: st.DrawFn) -> OddBpe:
    """Models whose pieces hold characters that are no pieces, with many ties of scores."""
    texts = st.text(LETTERS + _ODDITIES + " ", min_size=2, max_size=4)
    score = st.sampled_from([0.0, 0.5, -1.0, -2.0])
    added = draw(st.just(()) | st.lists(texts, max_size=2, unique=True).map(tuple))
    return OddBpe(
        letters="".join(draw(st.sets(st.sampled_from(LETTERS)))),
        scores=tuple(draw(st.dictionaries(texts, score, max_size=9)).items()),
        added=added,
        byte_fallback=draw(st.booleans()),
        prefix=draw(st.booleans()),
        squeezes=not added and draw(st.booleans()),
    )


@st.composite
def with_symbols(draw: st.DrawFn, charsmap: bytes) -> OddBpe:
    """Models with user-defined pieces in a text that is rewritten, or with some never found."""
    symbols = st.lists(st.text("aﬁé\u0301<>", min_size=1, max_size=3), max_size=2, unique=True)
    texts = st.text("abﬁé\u0301< ", min_size=2, max_size=3)
    rewrites = draw(st.booleans())
    return OddBpe(
        letters="abﬁé\u0301<>",
        scores=tuple((text, -1.0) for text in draw(st.lists(texts, max_size=5, unique=True))),
        added=tuple(text for text in draw(symbols) if not rewrites or text[0].isascii()),
        never=()
        if rewrites
        else tuple(draw(st.lists(st.just("a b") | st.just("ﬁ "), unique=True))),
        prefix=draw(st.booleans()),
        charsmap=charsmap if rewrites else b"",
    )


texts_of_odd_bpe = st.text(LETTERS + _ODDITIES + "  \u0e3f1.\n", max_size=7)
