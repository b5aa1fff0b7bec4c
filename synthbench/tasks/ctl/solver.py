"""The reference solver of ctl: apply the functions of one row, one after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

#: The most functions of a row.
LONGEST = 100


class TableSolver:
    """Applies functions that are given as tables.

    Args:
        variant: `forward`, `backward` or `steps`.
        symbols: the symbols, in order.
        tables: for each function its values at the symbols, in order.

    Attributes:
        tables: for each function its value at each symbol.
    """

    def __init__(
        self, variant: str, symbols: Sequence[str], tables: Mapping[str, Sequence[str]]
    ) -> None:
        self._variant, self._symbols = variant, symbols
        self.tables = {
            function: dict(zip(symbols, table, strict=True)) for function, table in tables.items()
        }

    @property
    def form(self) -> str:
        """The form of a row, for errors."""
        words = [self._symbols[-1], next(iter(self.tables))]
        example = " ".join(reversed(words) if self._variant == "backward" else words)
        return f"a symbol and 1 to {LONGEST} functions, such as {example!r}"

    def steps(self, text: str) -> list[str]:
        """The symbol after each function. The last is the answer.

        Raises:
            ValueError: the text is not a row of this variant.
        """
        return self.apply(*self.read(text))

    def read(self, text: str) -> tuple[str, list[str]]:
        """The symbol, and the functions in the order of application.

        Raises:
            ValueError: the text is not a row of this variant.
        """
        words = text.split()
        if self._variant == "backward":
            words.reverse()
        symbol, functions = "".join(words[:1]), words[1:]
        if symbol not in self._symbols or not 1 <= len(functions) <= LONGEST:
            raise ValueError(f"{text!r} is not a row of ctl {self._variant}: expected {self.form}")
        for function in functions:
            if function not in self.tables:
                names = list(self.tables)
                raise ValueError(
                    f"{function!r} in {text!r} is not a function: "
                    f"allowed are {names[0]} to {names[-1]}"
                )
        return symbol, functions

    def apply(self, symbol: str, functions: list[str]) -> list[str]:
        """The symbol after each function."""
        steps = []
        for function in functions:
            symbol = self.tables[function][symbol]
            steps.append(symbol)
        return steps
