"""From the tokenizer of a GGUF file to a SentencePiece model."""

from __future__ import annotations

from ticore.backend_kit.checkpoint import GgufVocabulary, TokenKind
from ticore.errors import ModelFilesError

from ._proto import SPACE, Model, Piece, TrainerSpec

_ALGORITHMS = {"llama": TrainerSpec.BPE, "t5": TrainerSpec.UNIGRAM}


def proto_of(vocabulary: GgufVocabulary) -> bytes:
    """A serialized model with the same ids.

    Raises:
        ModelFilesError: the tokenizer is of another kind, or has no token for what it does not
            know.
    """
    if vocabulary.kind not in _ALGORITHMS:
        raise ModelFilesError(
            f"expected a tokenizer of SentencePiece (llama or t5), found {vocabulary.kind!r}; "
            f"open it with tokenizers:FILE"
        )
    if vocabulary.unknown is None:
        raise ModelFilesError(
            "expected tokenizer.ggml.unknown_token_id, without which SentencePiece opens no model, "
            "found none; use another file"
        )
    model = Model()
    for token, (text, kind, score) in enumerate(
        zip(vocabulary.tokens, vocabulary.kinds, vocabulary.scores.tolist(), strict=True)
    ):
        # GGUF files spell user-defined tokens with plain spaces.
        spelled = text.replace(" ", SPACE) if kind == TokenKind.USER_DEFINED else text
        # Some of them call the unknown token a control token.
        own = TokenKind.UNKNOWN if token == vocabulary.unknown else kind
        model.pieces.append(Piece(piece=spelled, score=score, type=own))
    trainer, normalizer = model.trainer_spec, model.normalizer_spec
    trainer.model_type = _ALGORITHMS[vocabulary.kind]
    trainer.vocab_size = len(vocabulary.tokens)
    trainer.unk_id = vocabulary.unknown
    trainer.byte_fallback = TokenKind.BYTE in vocabulary.kinds
    normalizer.name = "gguf"
    normalizer.precompiled_charsmap = vocabulary.character_map
    normalizer.add_dummy_prefix = vocabulary.space_prefix
    normalizer.remove_extra_whitespaces = vocabulary.single_spaces
    normalizer.escape_whitespaces = True
    return bytes(model.SerializeToString(deterministic=True))
