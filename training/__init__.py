"""How bundled models were made: a package for each. Part of the repository, not of the wheel."""
