"""The two kinds of frames, by the security that an agreement names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from . import _compact_frame as compact
from . import _frame as standard
from ._keys import Secret
from ._padding import leb128, padded_size
from ._payload import Payload
from ._sought import Sought

Security = Literal["standard", "compact"]


class Seal(Protocol):
    """`_frame.seal`."""

    def __call__(
        self,
        payload: Payload,
        secret: Secret,
        agreement_digest: bytes,
        entropy: Callable[[int], bytes],
        *,
        pad: bool,
    ) -> bytes: ...


class AnyFrameReader(Sought[Payload], Protocol):
    """`_frame.FrameReader`."""


@dataclass(frozen=True)
class FrameFormat:
    """How messages are sealed.

    Attributes:
        seal: makes a frame.
        reader: makes a reader of one frame, from a secret and an agreement's digest.
        tag_bytes: how many bytes the tag has, with which a frame begins but for the salt.
        length_of: how many bytes a frame has around a plaintext of a size, without salt.
        overhead: about how many bytes a frame adds to a payload, without salt and padding.
    """

    seal: Seal
    reader: Callable[[Secret, bytes], AnyFrameReader]
    tag_bytes: int
    length_of: Callable[[int], int]
    overhead: int

    def overhead_with(self, secret: Secret) -> int:
        """About how many bytes a frame adds to a payload, without padding."""
        return secret.salt_length + self.overhead

    def nonce_length(self, secret: Secret) -> int:
        """The length of the nonce, in bytes: the salt and the tag, which no other frame has."""
        return secret.salt_length + self.tag_bytes

    def padded_lengths(self, most: int) -> Iterator[int]:
        """The lengths that padded frames under a key have, up to `most` bytes, in rising order."""
        size = padded_size(0)
        while (length := self.length_of(size)) <= most:
            yield length
            size = padded_size(size + 1)

    def shared_key(self, secret: Secret, nonce: bytes) -> bytes:
        """The key of the random numbers that both sides share after the `nonce` of the frame.

        Args:
            secret: what the frame was sealed with.
            nonce: the frame's first `nonce_length(secret)` bytes.
        """
        salt, tag = nonce[: secret.salt_length], nonce[secret.salt_length :]
        return secret.derive(salt).shared_key(tag)


FORMATS: Mapping[Security, FrameFormat] = {
    "standard": FrameFormat(
        standard.seal,
        standard.FrameReader,
        standard.TAG_BYTES,
        lambda size: standard.TAG_BYTES + len(leb128(size)) + size,
        standard.OVERHEAD,
    ),
    "compact": FrameFormat(
        compact.seal,
        compact.CompactFrameReader,
        compact.TAG_BYTES,
        lambda size: compact.TAG_BYTES + size,
        compact.OVERHEAD,
    ),
}
