"""A tokenizer that is not the model's is noticed."""

import pytest

from tests.support.tokenizers import TRAINED
from tests.support.toy_models import ToyTokenizer
from ticore.backend_kit import require_tokenizer_of_model
from ticore.errors import SettingsError

TOY = ToyTokenizer(["", "a", "b", "<s>"], special=(3,))


@pytest.mark.parametrize("width", [3, 4, 100, 4 + 4096])
def test_require_tokenizer_of_model_allows_padding_and_special_ids_without_logits(width):
    require_tokenizer_of_model(TOY, width)


@pytest.mark.parametrize("width", [2, 4 + 4097])
def test_require_tokenizer_of_model_refuses_a_vocabulary_that_does_not_fit(width):
    with pytest.raises(SettingsError, match=rf"which has {width} logits, found one of 4 ids; give"):
        require_tokenizer_of_model(TOY, width)


def test_require_tokenizer_of_model_allows_another_tokenizer_with_the_same_ids():
    own, other = TRAINED["hf-gpt2"](), TRAINED["hf-gpt2"]()
    require_tokenizer_of_model(own, own.vocab_size, own)
    require_tokenizer_of_model(other, own.vocab_size, own)


def test_require_tokenizer_of_model_refuses_other_ids_for_the_same_text():
    own, other = TRAINED["hf-gpt2"](), TRAINED["hf-cl100k"]()
    with pytest.raises(SettingsError, match=r"reads 'The quick brown fox,'.* found one that reads"):
        require_tokenizer_of_model(other, max(own.vocab_size, other.vocab_size), own)
