"""What a person can choose on the page."""

from __future__ import annotations

from ..channels import CHANNELS
from .fields import Fields
from .jobs import Event, Watch, Work
from .mark_sharing import ABOUT_SCHEMES
from .models import Models

_NOTHING_HAPPENS = "identity"  # on the page: no channel is chosen


def choices(fields: Fields, models: Models) -> Work:
    """Work that returns the models, the channels and the schemes, each with a line about it."""

    def work(watch: Watch) -> Event:
        return {
            "models": [offer.to_dict() for offer in models.offers()],
            "channels": [
                {"name": name, "about": channel.about}
                for name, channel in CHANNELS.items()
                if name != _NOTHING_HAPPENS
            ],
            "schemes": [{"name": name, "about": about} for name, about in ABOUT_SCHEMES.items()],
        }

    return work
