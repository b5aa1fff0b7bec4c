"""Adaptive computation time against a step-by-step reading of NDR, appendix A."""

import pytest
import torch

from synthbench.training.layers.halting import Halting

STEPS, ROWS, LENGTH, D_MODEL = 6, 3, 4, 5


def column_by_column(halting, start, states):
    """Output, remainder and steps of each column, by eqs. 11-15 and the changes of `universal`.

    As in the published program, the state before a step decides how much the state after it counts.
    """
    output, remainder = torch.zeros_like(start), torch.zeros(start.shape[:2], dtype=start.dtype)
    count = torch.zeros(start.shape[:2], dtype=torch.int64)
    for row in range(ROWS):
        for place in range(LENGTH):
            column = [state[row, place] for state in states]
            before = [start[row, place], *column[:-1]]
            chances = [torch.sigmoid(halting.unit(one))[0] for one in before]
            total, last = 0.0, len(column)
            for step, chance in enumerate(chances, start=1):
                total += chance.item()
                if total >= 1 - halting.epsilon:
                    last = step
                    break
            halted = total >= 1 - halting.epsilon
            rest = 1 - sum(chances[: last - 1])
            weights = [*chances[: last - 1], rest]
            count[row, place] = last
            if halting.form == "graves":
                output[row, place] = sum(w * h for w, h in zip(weights, column, strict=False))
                remainder[row, place] = rest
                continue
            if not halted:
                weights[-1], rest = chances[-1], torch.tensor(0.0)
            mixture = start[row, place]
            for weight, state in zip(weights, column, strict=False):
                mixture = weight * state + (1 - weight) * mixture
            output[row, place], remainder[row, place] = mixture, rest
    return output, remainder, count


@pytest.fixture(params=["graves", "universal"])
def halting(request):
    torch.manual_seed(3)
    halting = Halting(D_MODEL, request.param).double()
    torch.nn.init.constant_(halting.unit.bias, -1.5)
    return halting


def states_of(scale=3.0):
    generator = torch.Generator().manual_seed(0)
    states = scale * torch.randn(STEPS + 1, ROWS, LENGTH, D_MODEL, generator=generator)
    return states[0].double(), list(states[1:].double())


def test_columns_are_read_out_as_the_equations_say(halting):
    start, states = states_of()
    halted = halting(start, states)
    output, remainder, count = column_by_column(halting, start, states)
    assert 1 <= count.min() < count.max() == STEPS  # some halt early, some never do
    torch.testing.assert_close(halted.output, output)
    torch.testing.assert_close(halted.remainder, remainder)
    assert torch.equal(halted.steps, count)


def test_gradients_reach_states_and_halting_unit(halting):
    start, states = states_of()
    stacked = torch.stack(states).requires_grad_()

    def read(stacked, weight):
        halting.unit.weight.data = weight.data
        halted = torch.func.functional_call(
            halting, {"unit.weight": weight}, (start, list(stacked.unbind()))
        )
        return halted.output, halted.remainder

    weight = halting.unit.weight.detach().clone().requires_grad_()
    assert torch.autograd.gradcheck(read, (stacked, weight))
