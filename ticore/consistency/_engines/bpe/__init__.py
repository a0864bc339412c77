"""Verification of BPE tokenizers from tables, without retokenizing.

Read the files in this order; each uses those above it.

    key_index             finds many numbers among others at once
    two_parts             every way to cut texts into two others
    merge_rules           which tokens merge into which, and at which rank
    rule_index            finds the rules of many pairs at once
    merging               BPE itself, for many short texts
    pair_test             the theorem: pairs of neighbours tell whether a list is canonical
    merge_trees           how BPE builds each token, found with the pair test alone
    pair_table            the pair test for one token and the whole vocabulary at once
    token_pairs           the cached pair test, and all that is stored for a vocabulary

    table_engine          what both engines share
    unsplit_engine        the text is one part: SentencePiece

    character_classes     texts as a pretokenizer's expression sees them: shapes
    boundary_effects      how a token changes where the text before it is split
    token_groups          the vocabulary, sorted into groups of tokens that act alike
    pretokenized_state    what is remembered of a list of tokens
    run_folding           what may be left out of long runs
    replaced_parts        parts for which `ignore_merges` gives one token
    known_steps           steps that were made before from equal tails
    state_builder         from lists of tokens to states
    pretokenized_engine   the text is split by an expression: GPT-2, Llama 3, Qwen2.5, o200k
"""
