"""Datasets in the formats of other tools, and on the Hugging Face Hub."""
