"""`synthbench.answers`: answers of language models, read in running text and scored."""

from synthbench.evaluation.final_answer import find_answer, score_answer

__all__ = ["find_answer", "score_answer"]
