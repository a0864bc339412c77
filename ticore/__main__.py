"""What the command `ticore` starts, and `python -m ticore`.

The command's imports take half a second, in which Ctrl-C would show Python's traceback. This module
imports none of them before it has said what Ctrl-C does.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import NoReturn

_INTERRUPTED = 130  # as in ticore._cli.main


def main() -> NoReturn:
    """Run the command line on `sys.argv` and exit."""
    if sys.stderr is None:
        # Closed by the caller. NumPy 2.0 cannot be imported then.
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115  # open until the end
    # A parent that made this process ignore Ctrl-C, such as nohup, meant it.
    hears = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if hears:
        signal.signal(signal.SIGINT, _end)
    from ticore._cli.main import prepare  # noqa: PLC0415  # this is what takes so long

    run = prepare(sys.argv[1:])
    try:
        if hears:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        status = run()
        if hears:
            # From here on there is nothing to clean up, and nobody who would catch an exception.
            signal.signal(signal.SIGINT, _end)
    except KeyboardInterrupt:  # just before `run` heard it, or just after
        _end()
    sys.exit(status)


def _end(*_: object) -> NoReturn:
    """End at once. Code that is being imported might catch an exception and misunderstand it."""
    with suppress(OSError, ValueError):
        if sys.stderr is not None:
            newline = b"\n" if os.isatty(2) else b""  # away from the ^C that stands there
            os.write(2, newline + b"ticore: interrupted\n")
    os._exit(_INTERRUPTED)


if __name__ == "__main__":
    main()
