"""A task of your own: how many ones does a string of bits have?

    0110        2     length 4

Printed: what `verify` says of its dataset in `./ones`, and the score of a model that counts to 12.
"""

import dataclasses

import synthbench
from synthbench.tasks.base import Parameters, Split, TextTask, parameter
from synthbench.tasks.features import value


@dataclasses.dataclass(frozen=True)
class OnesParameters(Parameters):
    longest: int = parameter(30, "bits of the longest rows of test", least=21, most=120)


@synthbench.register
class Ones(TextTask):
    """Strings of bits, balanced over their length."""

    name, title = "ones", "Counting ones"
    summary, source = "How many ones does the string have?", "No paper: an example"
    parameters_type, bucket_name = OnesParameters, "length"
    tokens, separator = ("0", "1"), ""  # in a block "0" has the id 1, "1" the id 2
    columns = {"text": value("string"), "label": value("int8"), "length": value("int8")}

    def solve(self, question):
        return sum(int(bit, 2) for bit in question)  # a ValueError for any other sign

    @property
    def splits(self):
        train, test = (11, 12, 13), (20, self.parameters.longest)
        return Split("train", 3_000, train, evaluation=False), Split("test", 300, test)

    def propose(self, draws, n, split, bucket):
        return {"tokens": 1 + draws.integers(2, (n, bucket))}

    def render(self, block):
        return {"label": (block["tokens"] == 2).sum(axis=1)}


if __name__ == "__main__":
    synthbench.generate("ones", workers=1)
    print(synthbench.verify("ones", workers=1))
    rows = synthbench.DatasetDirectory.open("ones").rows("default", "test")
    answers = {row["id"]: min(row["text"].count("1"), 12) for row in rows}
    print(synthbench.evaluate("ones", answers, split="test"))
