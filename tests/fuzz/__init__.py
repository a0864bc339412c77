"""Damaged and hostile files: each parser gives a valid result or raises a TicoreError.

mutations.py   damage to bytes, lines and JSON, the same for the same seed
parsers/       the parsers, each with valid files that are damaged
child.py       runs parsers over many files, within limits of time and memory
corpus/        files that once caused a failure, or were made for it: every run reads all of them
test_fuzz.py   the tests; HYPOTHESIS_PROFILE=thorough reads 10,000 files per parser
"""
