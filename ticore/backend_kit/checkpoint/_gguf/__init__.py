"""A GGUF file, llama.cpp's format: settings, tokenizer and quantized weights in one file.

container.py    metadata and where tensors lie, everything checked before use
unpacking.py    from packed numbers to float32
source.py       typed access to a file of one family
angles.py       how rotary angles are scaled
families.py     settings and tensors as in the Hugging Face checkpoint, for each family
vocabulary.py   the tokenizer, in neutral terms
model_files.py  all of these, as backends load them

Nothing is imported here: `container` and what imports it need the package `gguf`, an extra.
"""
