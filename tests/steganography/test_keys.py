"""Keys survive their file; secrets derive the same keys on both sides and show nothing."""

from __future__ import annotations

import traceback
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ticore.consistency._tokenizer_rules.characters import is_assigned
from ticore.errors import CredentialError
from ticore.keys import format_key, new_key, parse_key
from ticore.steganography import _keys as keys
from ticore.steganography._keys import Secret

KEY = bytes(range(32))
SALT = bytes(range(16))

_PASSWORDS = st.text(st.characters(exclude_categories=["Cs"]).filter(is_assigned), min_size=1)


@contextmanager
def _cheap_argon2() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for constant, least in ("ITERATIONS", 1), ("LANES", 1), ("MEMORY_KIB", 8):
            patch.setattr(keys, f"_ARGON2_{constant}", least)
        yield


def test_new_key_differs_each_time() -> None:
    made = [new_key() for _ in range(3)]
    assert {len(key) for key in made} == {32}
    assert len(set(made)) == 3


@pytest.mark.slow
@given(st.binary(min_size=32, max_size=32), st.text(" \t\r\n"), st.text(" \t\r\n"))
def test_parse_key_reads_what_format_key_wrote(key: bytes, before: str, after: str) -> None:
    text = before + format_key(key) + after
    assert parse_key(text.encode(), "k") == key
    assert parse_key(text.upper().encode(), "k") == key
    assert parse_key(key, "k") == key


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"", "found 0 characters"),
        (b"\xff" * 31, "found 31 characters"),
        (b"\xff" * 33, "found 33 characters"),
        (b" " + b"ab" * 31 + b"\n", "found 62 characters"),
        (b"ab" * 33, "found 66 characters"),
        (b"ab" * 16 + b" " + b"ab" * 16, "found 65 characters"),
        (b"ag" * 32, "found 64 characters, not all of them hex digits"),
        ("٣".encode() * 64, "found 128 characters"),
    ],
)
def test_parse_key_refuses_other_contents(data: bytes, found: str) -> None:
    with pytest.raises(CredentialError) as caught:
        parse_key(data, "my.key")
    text = str(caught.value)
    assert text.startswith("my.key: expected a key of 64 hex digits")
    assert f"{found};" in text
    assert text.endswith("make one with: ticore keygen")


def test_derive_gives_unrelated_keys_without_a_salt() -> None:
    secret = Secret.from_key(KEY)
    derived = secret.derive(b"")
    assert secret.salt_length == 0
    assert (len(derived.siv_key), len(derived.length_key)) == (64, 32)
    assert derived.length_key not in derived.siv_key
    assert derived == Secret.from_key(KEY).derive(b"")
    assert derived != Secret.from_key(KEY[::-1]).derive(b"")


@pytest.mark.parametrize("length", [0, 31, 33, 64])
def test_from_key_refuses_keys_of_another_length(length: int) -> None:
    with pytest.raises(CredentialError, match=f"of 32 bytes, found {length};"):
        Secret.from_key(bytes(length))


@given(_PASSWORDS, _PASSWORDS)
@_cheap_argon2()
def test_from_password_treats_normalized_passwords_alike(one: str, other: str) -> None:
    derived = Secret.from_password(one).derive(SALT)
    assert derived == Secret.from_password(unicodedata.normalize("NFD", one)).derive(SALT)
    assume(unicodedata.normalize("NFC", one) != unicodedata.normalize("NFC", other))
    assert derived != Secret.from_password(other).derive(SALT)


@_cheap_argon2()
def test_derive_gives_other_keys_for_each_salt() -> None:
    secret = Secret.from_password("correct horse")
    assert secret.salt_length == 16
    assert secret.derive(SALT) != secret.derive(SALT[::-1])


@_cheap_argon2()
def test_from_password_differs_from_from_key() -> None:
    text = "k" * 32
    assert Secret.from_password(text).derive(SALT) != Secret.from_key(text.encode()).derive(b"")


@pytest.mark.parametrize(
    ("secret", "salt"), [(Secret.from_key(KEY), SALT), (Secret.from_password("x"), b"")]
)
def test_derive_refuses_salts_of_another_length(secret: Secret, salt: bytes) -> None:
    with pytest.raises(ValueError, match="expected a salt of"):
        secret.derive(salt)


def test_derive_gives_the_keys_of_former_versions() -> None:
    """Golden vectors, at the real cost: a change would lock out all earlier messages."""
    by_key = Secret.from_key(KEY).derive(b"")
    by_password = Secret.from_password("pässword").derive(SALT)
    assert (
        by_key.length_key.hex()
        == "9b0c42171444aead885b594e12336912250757d45c5fb7dd4ec59609ea26b232"
    )
    assert (
        by_password.length_key.hex()
        == "73e1d0abd275589fdb6f28c5d3066be185fc9bba0ee0c94c3bc638805e6eead4"
    )


def test_from_password_refuses_bad_passwords_and_does_not_show_them() -> None:
    with pytest.raises(CredentialError, match="empty"):
        Secret.from_password("")
    with pytest.raises(CredentialError, match="not valid Unicode") as caught:
        Secret.from_password("hunter2\udcff")
    shown = traceback.format_exception_only(caught.value)
    assert "hunter2" not in "".join(shown)
    # A program that logs an error may log its cause too, and that holds the password.
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("secret", [Secret.from_key(b"K" * 32), Secret.from_password("K" * 8)])
def test_secret_repr_shows_no_secret(secret: Secret) -> None:
    assert "K" not in repr(secret)
    assert "K" not in str(secret)


def test_sealing_keys_repr_shows_no_key() -> None:
    derived = Secret.from_key(KEY).derive(b"")
    assert repr(derived) == "SealingKeys()"


def test_shared_key_depends_on_the_nonce() -> None:
    """Golden, as above; and each nonce has numbers of its own."""
    keys = Secret.from_key(KEY).derive(b"")
    assert keys.shared_key(b"nonce") != keys.shared_key(b"other")
    assert (
        keys.shared_key(b"nonce").hex()
        == "5364afe8496d6efbbbc048ef869551b7e0fb237d0cf14ffacee3d3c8ac16f46b"
    )


def test_advice_about_a_password_counts_its_characters() -> None:
    assert keys.password_advice("a").startswith("a password of 1 character may")
    assert keys.password_advice("ab").startswith("a password of 2 characters may")


def test_advice_about_a_password_is_given_when_it_is_shorter_than_the_least_length() -> None:
    assert keys.password_advice("x" * (keys.LEAST_PASSWORD - 1))
    assert not keys.password_advice("x" * keys.LEAST_PASSWORD)
