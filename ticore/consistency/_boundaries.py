"""Special tokens in a list: which of them a receiver keeps, and how they divide the list.

Chats hold special tokens, such as `<|im_start|>` or an end of text. They stand for no text, and no
text gives them. A receiver that keeps them reads each *part* between two of them by itself:

    <|im_start|> user \\n Hi <|im_end|>      parts  (), (user \\n Hi), ()

So a list is consistent if and only if each of its parts is: encode(decode(part)) == part. This
holds for a receiver that encodes part by part, and for one whose tokenizer finds the special tokens
in a text and encodes what is between them.

Three details:

1. **The dummy prefix.** SentencePiece puts a space before a text, and removes it when it decodes.
   `encode` does this for each part. Byte-level BPE (GPT-2, Llama 3, Qwen2.5) has no dummy prefix.
   A prompt of Llama 2 is `<s>` followed by encode(text), so its part has one. A library that puts
   the dummy prefix only before the whole text (`prepend_scheme: first`) reads the later parts
   differently. A list of such a library is found inconsistent at the first token of a later part.
2. **Unknown text.** Some tokenizers give a special id, `<unk>`, for text that they do not know.
   That text is lost. So such an id is not a boundary, and a list that holds one is not consistent.
3. **Special tokens written out.** A receiver may have the text alone, in which special tokens
   stand by their names. It reads other ids than one who keeps special tokens, if a dummy prefix or
   stripped spaces stand next to them. `unlike_gaps` tells whether that can be.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Literal, get_args

from .._support.checks import require_one_of
from .._support.deprecation import warn_deprecated
from ..interfaces import SpecialWritingTokenizer, Tokenizer

Specials = Literal["gaps", "text", "refuse"]
"""What becomes of the special tokens in a list, see `ticore.Verifier`."""

_OLD_SPECIALS: dict[str, Specials] = {"boundaries": "gaps", "refused": "refuse"}


def specials_named(name: str) -> Specials:
    """A setting by its name, or by the name it had before.

    Raises:
        SettingsError: there is no such setting.
    """
    if isinstance(name, str) and name in _OLD_SPECIALS:
        warn_deprecated(f"specials={name!r}", repr(_OLD_SPECIALS[name]), stacklevel=4)
        return _OLD_SPECIALS[name]
    return require_one_of("specials", name, get_args(Specials))


def unknown_ids(tokenizer: Tokenizer) -> frozenset[int]:
    """The ids for unknown text; empty if the tokenizer does not name them."""
    found: frozenset[int] = getattr(tokenizer, "unknown_ids", frozenset())
    return found


def special_name(tokenizer: Tokenizer, token: int) -> str:
    """The name of a special id, such as `<|im_start|>`; empty if the tokenizer gives no names."""
    name: Callable[[int], str] = getattr(tokenizer, "token_name", lambda _: "")
    return name(token)


def is_boundary(tokenizer: Tokenizer, token: int) -> bool:
    """Whether a receiver keeps this special id: it stands for no text, not even unknown text."""
    return not tokenizer.token_bytes(token) and token not in unknown_ids(tokenizer)


def boundary_ids(tokenizer: Tokenizer) -> frozenset[int]:
    """The special ids that divide a list into parts."""
    return frozenset(i for i in tokenizer.special_ids if is_boundary(tokenizer, i))


def parts(ids: Sequence[int], boundaries: Collection[int]) -> Iterator[range]:
    """The positions of each part of a list, empty parts included.

    There is one part more than there are boundaries.

    >>> list(parts([7, 1, 2, 7], {7}))
    [range(0, 0), range(1, 3), range(4, 4)]
    """
    start = 0
    for at, token in enumerate(ids) if boundaries else ():
        if token in boundaries:
            yield range(start, at)
            start = at + 1
    yield range(start, len(ids))


def written_ids(tokenizer: Tokenizer) -> frozenset[int]:
    """The boundaries that are written out in a text, and found in it again."""
    if not isinstance(tokenizer, SpecialWritingTokenizer):
        return frozenset()
    return frozenset(
        token
        for token in boundary_ids(tokenizer)
        if (text := tokenizer.decode_with_specials([token]))
        and tokenizer.encode_with_specials(text) == [token]
    )


def unlike_gaps(tokenizer: Tokenizer, written: Collection[int]) -> str:
    """Why special tokens that are written out need not divide a text like gaps.

    Args:
        tokenizer: the receiver's.
        written: its `written_ids`.

    Returns:
        The reason; empty if the receiver reads each part between two of them by itself.
    """
    if not written or not isinstance(tokenizer, SpecialWritingTokenizer):
        return ""  # there is nothing to find
    return next(_obstacles(tokenizer, written), "")


def _obstacles(tokenizer: SpecialWritingTokenizer, written: Collection[int]) -> Iterator[str]:
    """The reasons that `unlike_gaps` gives."""
    structure = tokenizer.structure()
    if structure is None:
        yield "how the tokenizer reads text beside special tokens is not known"
        return
    if structure.kind != "bpe" or structure.dummy_prefix or not structure.keeps_whitespace:
        yield "spaces beside a special token are added or dropped"
    names = {token: text for text, token in structure.added_tokens.items()}
    for token in sorted(written):
        name = names.get(token)
        if name is None or tokenizer.decode_with_specials([token]) != name:
            yield f"encode does not find the special token {special_name(tokenizer, token)!r}"
        elif flags := structure.added_flags.get(name):
            if flags.single_word:
                yield f"the special token {name!r} is not found beside a word (single_word)"
            else:
                yield f"the special token {name!r} takes spaces beside it (lstrip or rstrip)"
    found = _reaching_across({names[i] for i in written if i in names}, structure.added_tokens)
    if found is not None:
        other, name = found
        yield f"the added token {other!r} may begin before the special token {name!r}, or end after"


def _reaching_across(special: Collection[str], added: Mapping[str, int]) -> tuple[str, str] | None:
    """An added token that some text holds across an end of a special one, and that one."""
    beginnings: dict[str, str] = {}  # of special tokens
    for text in special:
        beginnings |= {text[:n]: text for n in range(1, len(text) + 1)}
    whole = set(special)
    for other in added:
        for start in range(len(other)):
            rest = other[start:]
            if start and rest in beginnings:
                return other, beginnings[rest]
            longer = (rest[:n] for n in range(1, len(rest)))
            if found := next((text for text in longer if text in whole), None):
                return other, found
    return None
