"""Which requests the service answers: sent to a name it has, with its token, at its rate."""

from __future__ import annotations

import hmac
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus

from starlette.datastructures import Headers

from ..refusals import RefusedError
from ..security import require_host

HEALTH = "/healthz"  # load balancers ask for it, which have no token; it tells nothing secret
_MOST_CLIENTS = 10_000
_BURST_SECONDS = 2


@dataclass(frozen=True)
class ServiceGate:
    """Decides which requests are answered.

    Attributes:
        names: host names and addresses by which the service may be asked for, in small letters.
        any_name: whether any name will do, as after a proxy.
        token: what a request has to show (`Authorization: Bearer ...`); empty: nothing.
    """

    names: frozenset[str]
    any_name: bool = False
    token: str = field(default="", repr=False)

    def check(self, method: str, path: str, headers: Headers) -> None:
        """Raises RefusedError if a request is not to be answered."""
        if not self.any_name:
            require_host(headers, self.names, any_address=False, advice="use its own address")
        if not self.token or path == HEALTH:
            return
        scheme, _, shown = headers.get("authorization", "").partition(" ")
        shown = shown.strip() if scheme.lower() == "bearer" else ""
        if not hmac.compare_digest(shown.encode("latin-1", "replace"), self.token.encode()):
            raise RefusedError(
                HTTPStatus.UNAUTHORIZED,
                "expected the service's token, as in `Authorization: Bearer TOKEN`, found none or "
                "another; ask who runs it",
            )


class Rate:
    """At most a number of requests a second from each address, and twice that at once.

    Args:
        per_second: above 0; infinity sets no limit.
        clock: seconds that go on.
    """

    def __init__(self, per_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._clock = clock
        # Address: requests that it still may make, and when that was.
        self._left = OrderedDict[str, tuple[float, float]]()

    def take(self, address: str) -> None:
        """Count one request. Raises RefusedError if there are too many."""
        if self._per_second == float("inf"):
            return
        most = max(1.0, _BURST_SECONDS * self._per_second)
        now = self._clock()
        left, then = self._left.pop(address, (most, now))
        left = min(most, left + (now - then) * self._per_second)
        self._left[address] = (max(0.0, left - 1) if left >= 1 else left, now)
        while len(self._left) > _MOST_CLIENTS:
            self._left.popitem(last=False)
        if left < 1:
            raise RefusedError(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"expected at most {self._per_second:g} requests a second, found more; wait, or "
                f"send many texts in one request",
            )
