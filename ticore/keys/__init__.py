"""Keys: the secrets of messages and of watermarks."""

from .._support.deprecation import moved_names
from ._key import KEY_BYTES, Key, format_key, key_bytes, load_key, new_key, parse_key

__all__ = [
    "KEY_BYTES",
    "Key",
    "format_key",
    "key_bytes",
    "load_key",
    "new_key",
    "parse_key",
]

__getattr__ = moved_names(__name__, {"RawKey": "ticore.keys:Key"})
