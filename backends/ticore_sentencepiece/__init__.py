"""Raw SentencePiece adapter."""
