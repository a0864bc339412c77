"""`python -m ticore` is the command `ticore`."""

from .cli import main

if __name__ == "__main__":
    main()
