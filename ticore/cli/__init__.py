"""The command line: `ticore COMMAND`. Results on stdout, everything else on stderr.

Exit status: 0 done, 1 could not, 2 wrong usage, 130 interrupted. After 1 and 2 one line on stderr
says why, and nothing has been written to stdout. Where several texts are looked at, each that
cannot be has such a line, and the others have their results.
"""

from .main import main

__all__ = ["main"]
