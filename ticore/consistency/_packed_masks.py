"""Masks of many texts in one call, with one bit per token."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from array_api_compat import array_namespace, device, is_jax_array, is_torch_array

from .._support.checks import checked_ids, listed
from .._support.packed_bits import Words, set_bit, word_count
from ..errors import InconsistentStateError, SettingsError, WrongTypeError
from ._engines.base import Engine, write_packed_masks
from ._verifier import Verification

_ALL = np.uint32(0xFFFFFFFF)


def packed_masks(
    verifications: Iterable[Verification | None],
    out: Any = None,
    *,
    end_ids: Iterable[int] = (),
) -> Any:
    """The masks of many texts, with one bit per token, as engines apply them to logits.

    Token t is bit t % 32 of word t // 32 of its row, the lowest bit first. This is the layout of
    `xgrammar.allocate_token_bitmask` and of `llguidance.torch.allocate_token_bitmask`.

    Args:
        verifications: one for each row. None for a row without constraint: all its bits are set,
            those after the vocabulary too.
        out: a buffer uint32 or int32[rows, words]: a NumPy array, or a tensor of PyTorch on any
            device. There may be more rows, which are left as they are. There may be more words than
            the vocabulary takes, since engines pad logits: their bits are 0. A tensor that is not
            in the main memory is written in one copy. None for a new NumPy array.
        end_ids: ids that end a text. Special ids are never set, except for these: their bits are
            set in the rows of texts that may end, which are `consistent`.

    Returns:
        `out`, or the new array uint32[rows, ceil(vocab_size / 32)]. For JAX, whose arrays cannot be
        written to, give no `out` and make an array of the new one with `jax.numpy.asarray`.

    Raises:
        InconsistentStateError: no text may begin with the list of some row. No row is written then.
        SettingsError: the buffer has another shape or type, or is read-only; a tokenizer does not
            have an id of `end_ids`.
        WrongTypeError: a row is not what `Verifier.start` gives; `out` is not such a buffer; an id
            is not an integer.

    >>> import ticore
    >>> tokenizer = ticore.load_tokenizer("tiny-en")
    >>> verifier = ticore.Verifier(tokenizer)
    >>> texts = [verifier.start(tokenizer.encode(text)) for text in ("The morning", "The ")]
    >>> masks = packed_masks(texts)
    >>> masks.dtype, masks.shape == (2, -(-tokenizer.vocab_size // 32))
    (dtype('uint32'), True)
    """
    rows = listed(verifications, "verifications", "give [it]")
    states = [None if row is None else _state(row, n) for n, row in enumerate(rows)]
    sizes = {row._size for row in rows if row is not None}
    ends = listed(end_ids, "end ids", "give [it]")
    for size in sizes:
        checked_ids(ends, size)
    words = word_count(max(sizes, default=0))
    if out is None:
        found = np.empty((len(rows), words), dtype=np.uint32)
        _fill(found, rows, states, ends)
        return found
    host = _host_view(out)
    _require_fit(tuple(out.shape), len(rows), words)
    if host is None:
        host = np.empty((len(rows), out.shape[1]), dtype=np.uint32)
        _fill(host, rows, states, ends)
        _copy_to_device(host, out)
    else:
        _fill(host[: len(rows)], rows, states, ends)
    return out


def _state(verification: object, row: int) -> Any:
    """The engine's state of one row.

    Raises:
        InconsistentStateError: no text may begin with its list.
        WrongTypeError: it is not what `Verifier.start` gives.
    """
    if not isinstance(verification, Verification):
        raise WrongTypeError(
            f"row {row}: expected what Verifier.start gives, found {type(verification).__name__}; "
            f"give verifier.start(ids)"
        )
    try:
        return verification._state()
    except InconsistentStateError as error:
        raise InconsistentStateError(f"row {row}: {error}; or give None for this row") from None


def _fill(
    buffer: Words,
    rows: Sequence[Verification | None],
    states: Sequence[Any],
    ends: Sequence[int],
) -> None:
    """Write each row of `buffer`, which has enough words."""
    known = min((word_count(row._size) for row in rows if row is not None), default=0)
    buffer[:, known:] = 0
    by_engine = dict[int, _Group]()
    for n, (verification, state) in enumerate(zip(rows, states, strict=True)):
        if verification is None:
            buffer[n] = _ALL
            continue
        engine = verification._engine
        group = by_engine.get(id(engine))
        if group is None:
            words = list(buffer[:, : word_count(verification._size)])
            group = by_engine[id(engine)] = _Group(engine, words, [], [])
        group.states.append(state)
        group.numbers.append(n)
    for engine, words, its_states, numbers in by_engine.values():
        write_packed_masks(engine, its_states, [words[n] for n in numbers])
    if ends:
        for words, verification in zip(buffer, rows, strict=True):
            if verification is not None and verification.consistent:
                for token in ends:
                    set_bit(words, token, True)


class _Group(NamedTuple):
    """The rows of one engine.

    Attributes:
        engine: what answers.
        words: for every row of the buffer, the words of this engine's vocabulary.
        states, numbers: of the engine's rows.
    """

    engine: Engine[Any]
    words: list[Words]
    states: list[Any]
    numbers: list[int]


def _require_fit(shape: tuple[int, ...], rows: int, words: int) -> None:
    """Refuse a buffer of another shape.

    Raises:
        SettingsError: it has too few rows or words, or not two axes.
    """
    if len(shape) != 2 or shape[0] < rows or shape[1] < words:
        raise SettingsError(
            f"out: expected a buffer of at least {rows} rows of {words} words of 32 bits, found "
            f"one of shape {shape}"
        )


def _host_view(out: Any) -> Words | None:
    """The buffer as uint32 in the main memory, sharing it; None for a tensor that is elsewhere.

    Raises:
        SettingsError: it has another type of elements, or is read-only.
        WrongTypeError: it is no such buffer.
    """
    is_torch = is_torch_array(out)
    if not (is_torch or isinstance(out, np.ndarray)):
        hint = "; give none, and make an array of the result" if is_jax_array(out) else ""
        raise WrongTypeError(
            f"out: expected an array of NumPy or a tensor of PyTorch, which can be written to, "
            f"found {type(out).__name__}{hint}"
        )
    dtype = str(out.dtype).rpartition(".")[2]
    if dtype not in ("uint32", "int32"):
        raise SettingsError(f"out: expected elements of type uint32 or int32, found {dtype}")
    if is_torch and _is_elsewhere(out):
        return None
    array: npt.NDArray[Any] = out.numpy() if is_torch else out
    if not array.flags.writeable:
        raise SettingsError("out: expected a buffer that can be written to, found a read-only one")
    return array.view(np.uint32)


def _is_elsewhere(tensor: Any) -> bool:
    """Whether a tensor is not in the main memory."""
    return bool(tensor.device.type != "cpu")


def _copy_to_device(rows: Words, out: Any) -> None:
    """Copy rows into the first ones of a tensor on a device."""
    xp = array_namespace(out)
    found = xp.asarray(rows.view(str(out.dtype).rpartition(".")[2]), device=device(out))
    out[: len(rows)] = found
