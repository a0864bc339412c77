"""Hiding messages in text and reading them back.

_steganographer.py     `Steganographer`: embed and extract under one set of settings
_batches.py            its methods for many texts at once
_long_messages.py      its methods for messages that take several texts
_arguments.py          checks of what it is given
_setup.py              what all of its texts share
_sealed_writing.py     how a sealed message is written and checked
_sealed_reading.py     how it is read
_raw_bits.py           how raw bits are written and read
_checked_bits.py       raw bits with a checksum after them
_agreement.py          the settings that both sides share, and their file
_keys.py, _frame.py    from a secret to keys; a message sealed as random-looking bytes
_parts.py              a message cut into numbered parts
_payload.py            what a message is packed into
_padding.py            a few sizes in the place of all lengths
_compact_frame.py      shorter frames under weaker bounds
_frame_formats.py      the two kinds of frames
_sought.py             how a search tells a right payload from a wrong one
_bit_buffer.py         bits that arrive a few at a time
_model_coding.py       short texts made shorter by the model
_step.py               one step of a text, the same for both sides
_divergence.py         what a step drops, in bits
_text_state.py         a text that grows by such steps
_steps_taken.py        the steps of a text, for others that begin alike
_embedding.py          the writer's loop over steps
_ending.py             what follows the message, up to the end of the text
_extraction.py         the reader's loop over steps
_departure.py          where a changed text leaves what can have been written
_small_repairs.py      small changes to a text, undone near such a place
_rereading.py          reading many texts that begin alike
_token_check.py        what the reader of a text will find, without a second pass of the model
_repeatable.py         whether a model gives the same logits again
_jobs.py               work that says what a model has to read
_lockstep.py           many such jobs at once, with one model
_nonce_first_codec.py  keyed codecs: the nonce first, then the rest
_capacity.py           whether a message fits
_pending_bits.py       what tokens carry before it is settled
_openers.py            natural beginnings in the place of a prompt, and opener_lists/, their files
_beginnings.py         where in a received text the message may begin
_pasted.py             texts that programs changed on the way to the reader
_broken_lines.py       lines that were broken at a width, joined
_line_end_search.py    what stood between such lines, where their lengths do not tell
_portability.py        which machines read each other's texts
_prescored_decoder.py  all logits of a known text in one pass
_block_decoder.py      some of them in each pass, without a change of any bit
_results.py            what `embed` returns
_pact.py               the former name of an agreement with a key
"""

from .._support.deprecation import moved_names
from ._agreement import Agreement
from ._keys import Secret
from ._pasted import Recovered
from ._results import Embedding
from ._steganographer import Steganographer

__all__ = ["Agreement", "Embedding", "Recovered", "Secret", "Steganographer"]

__getattr__ = moved_names(
    __name__,
    {
        "Pact": "ticore.steganography._pact:Pact",
        "format_key": "ticore.keys:format_key",
        "load_key": "ticore.keys:load_key",
        "new_key": "ticore.keys:new_key",
        "parse_key": "ticore.keys:parse_key",
    },
)
