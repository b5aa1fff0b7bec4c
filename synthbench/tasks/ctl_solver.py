"""The reference solver of ctl: one row, table by table, as the paper says it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

#: Most functions of a row.
LONGEST = 100
#: Tables of more symbols than this are not drawn in full for people.
DRAWN_SYMBOLS = 16


class TableSolver:
    """Looks symbols up in tables.

    Args:
        variant: the direction that rows are written in.
        symbols: the symbols, in order.
        tables: for each function the symbols that these go to, in order.

    Attributes:
        tables: for each function where it leads from each symbol.
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
        """What a row looks like."""
        words = [self._symbols[-1], next(iter(self.tables))]
        example = " ".join(words if self._variant == "forward" else reversed(words))
        return f"a symbol and 1 to {LONGEST} functions, such as {example!r}"

    def steps(self, text: str) -> list[str]:
        """Every symbol that is reached on the way, the last being the answer.

        Raises:
            ValueError: the text is no row of this variant.
        """
        return self._apply(*self._read(text))

    def draw(self, text: str) -> str:
        """A row's look-ups, one a line, each with its table: the entry it takes in brackets."""
        symbol, functions = self._read(text)
        steps = self._apply(symbol, functions)
        shown = self._symbols if len(self._symbols) <= DRAWN_SYMBOLS else ()
        margin = len("() = ") + max(map(len, functions)) + 2 * len(symbol) + 2
        lines = [f"{text}  ->  {steps[-1]}", "".join([" " * margin, *map(_cell, shown)])]
        for function, argument, result in zip(functions, [symbol, *steps], steps, strict=False):
            call = f"{function}({argument}) = {result}"
            table = self.tables[function]
            cells = [_cell(table[start], taken=start == argument) for start in shown]
            lines.append("".join([call.ljust(margin), *cells]))
        return "\n".join(line.rstrip() for line in lines if line.strip())

    def _read(self, text: str) -> tuple[str, list[str]]:
        """The symbol, and the functions in the order in which they are applied."""
        words = text.split()
        if self._variant == "backward":
            words.reverse()
        symbol, functions = "".join(words[:1]), words[1:]
        if symbol not in self._symbols or not 1 <= len(functions) <= LONGEST:
            raise ValueError(f"{text!r} is no row of ctl {self._variant}: expected {self.form}")
        for function in functions:
            if function not in self.tables:
                names = list(self.tables)
                raise ValueError(
                    f"{function!r} in {text!r} is none of the functions {names[0]} to {names[-1]}"
                )
        return symbol, functions

    def _apply(self, symbol: str, functions: list[str]) -> list[str]:
        steps = []
        for function in functions:
            symbol = self.tables[function][symbol]
            steps.append(symbol)
        return steps


def _cell(symbol: str, taken: bool = False) -> str:
    return f"[{symbol}]" if taken else f" {symbol} "
