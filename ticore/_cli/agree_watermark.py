"""`ticore agree-watermark`: the file that the writer and the detectors of a watermark share."""

from __future__ import annotations

from typing import Any

from ..watermarking import WatermarkAgreement
from .options import NewSecretFile
from .secrets import hand_out, warn_of_others
from .usage import wrong_settings_are_wrong_usage
from .watermark_options import (
    Alpha,
    Context,
    Delta,
    Gamma,
    Greens,
    KeyFile,
    PayloadBits,
    RepeatsOption,
    Scheme,
    SchemeVersion,
    TokenizerPlace,
    WatermarkOptions,
)


def agree_watermark(
    tokenizer: TokenizerPlace = None,
    scheme: Scheme = None,
    gamma: Gamma = None,
    delta: Delta = None,
    greens: Greens = None,
    context: Context = None,
    scheme_version: SchemeVersion = None,
    payload_bits: PayloadBits = None,
    alpha: Alpha = None,
    repeats: RepeatsOption = None,
    key_file: KeyFile = None,
    output: NewSecretFile = None,
) -> None:
    """Make the file that writer and detector share.

    It holds all that detection depends on: scheme, settings, version, tokenizer and key. So
    `ticore detect --agreement FILE` cannot look for another watermark than
    `ticore watermark --agreement FILE` writes. Without --key-file a new key is made.
    """
    options = WatermarkOptions(
        key_file=key_file,
        scheme=scheme,
        gamma=gamma,
        delta=delta,
        greens=greens,
        context=context,
        scheme_version=scheme_version,
        payload_bits=payload_bits,
        alpha=alpha,
        repeats=repeats,
        tokenizer=tokenizer,
    )
    more: dict[str, Any] = {} if repeats is None else {"repeats": repeats}
    with wrong_settings_are_wrong_usage():
        agreement = WatermarkAgreement.new(
            options.place,
            options.scheme_name,
            key=None if key_file is None else options.read_key(),
            **more,
            **options.settings(),
        )
    hand_out(agreement.dumps(), output)
    warn_of_others(key_file)
