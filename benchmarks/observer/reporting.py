"""Placeholder."""


def tables(report):
    return []
