"""Detectors of texts that hide a message. Each learns from examples of both kinds.

detector.py           what a detector offers, and what it sees of a text
networks.py           small networks over token ids: LS-CNN, R-BiLSTM-C, a transformer
sentence_model.py     a sentence-embedding model, fine-tuned
model_statistics.py   gradient boosting on what the generating model says of a text
"""
