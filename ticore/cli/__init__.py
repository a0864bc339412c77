"""The command line: `ticore COMMAND`. Results on stdout, everything else on stderr.

Exit status: 0 done, 1 could not, 2 wrong usage, 130 interrupted. After 1 and 2 one line on stderr
says why, and nothing has been written to stdout.
"""

from .main import main

__all__ = ["main"]
