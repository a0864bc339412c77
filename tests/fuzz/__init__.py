"""Damaged and hostile files: each parser ends in a proper result or in a TicoreError.

mutations.py   damage to bytes, lines and JSON, the same for the same seed
parsers/       the parsers, each with sound files to begin with
child.py       runs parsers over many files, within limits of time and memory
corpus/        files that once did harm, or were made to: each is read in every run
test_fuzz.py   all of these; HYPOTHESIS_PROFILE=thorough reads 10,000 files for each parser
"""
