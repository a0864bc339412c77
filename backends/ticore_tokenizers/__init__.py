"""Hugging Face tokenizers adapter."""
