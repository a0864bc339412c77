"""The channels by name. Several are joined by `+`, in any order: `chat+typographic`."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import SettingsError, shown
from ..registry import lookup
from ._ascii import ASCII
from ._base import Channel, joined
from ._caseless import CASELESS
from ._chat import CHAT
from ._email import EMAIL
from ._sms import SMS
from ._typographic import TYPOGRAPHIC
from ._white_space import LINE

ENTRY_POINTS = "ticore.channels"
"""The group of entry points in which other packages declare a Channel by name."""

IDENTITY = Channel("identity", "the text arrives as it is", str, reach=0)

CHANNELS: Mapping[str, Channel] = {
    channel.name: channel
    for channel in (IDENTITY, ASCII, CASELESS, CHAT, EMAIL, LINE, SMS, TYPOGRAPHIC)
}

# Who reads before whom where channels are joined. `email` counts characters, so it comes after
# those that put several in the place of one. `ascii` is last, when others have put plain characters
# in the place of those that it drops.
_ORDER = ("line", "chat", "typographic", "sms", "email", "caseless", "ascii")


def channel_of(channel: str | Channel) -> Channel:
    """The channel of a name, or `channel` itself where it is a Channel.

    Args:
        channel: a name as `channel_named` takes it, or a Channel that need not be declared
            anywhere.

    Raises:
        SettingsError: the name is unknown, `channel` is neither, or it is a Channel of your own
            with the name of a bundled one.
        MissingExtraError: see `channel_named`.
    """
    if isinstance(channel, str):
        return channel_named(channel)
    if not isinstance(channel, Channel):
        raise SettingsError(
            f"channel: expected a name or a Channel, found {shown(channel)}; "
            f"for a channel of your own give ticore.channels.Channel('its-name', 'what it does', "
            f"read)"
        )
    if _is_known(channel.name) and channel_named(channel.name).read != channel.read:
        raise SettingsError(
            f"channel: expected another name than {channel.name!r}, which a bundled channel has; "
            f"the reader would use that one"
        )
    return channel


def _is_known(name: str) -> bool:
    """Whether a name means bundled channels, whatever else is installed."""
    return CHANNELS.keys() >= set(name.split("+"))


def channel_named(name: str) -> Channel:
    """The channel of a name: bundled, declared by another package, or several joined by `+`.

    Args:
        name: such as `chat`, or `chat+typographic` in any order.

    Returns:
        The channel. Its name is the same for every order of the names.

    Raises:
        SettingsError: a name is unknown.
        MissingExtraError: the package that declares a channel cannot be imported.
    """
    names = sorted(set(name.split("+")))
    found = [lookup("channel", CHANNELS, each, ENTRY_POINTS) for each in names]
    some = [channel for channel in found if channel is not IDENTITY] or [IDENTITY]
    if len(some) == 1:
        return some[0]
    some.sort(key=lambda channel: _ORDER.index(channel.name) if channel.name in _ORDER else -1)
    names = sorted(channel.name for channel in some)
    about = "; ".join(channel.about for channel in some)
    return joined(some, "+".join(names), about)
