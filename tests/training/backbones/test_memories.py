"""Stack-RNN and Tape-RNN: steps computed by hand, and whole runs against cells in lists."""

import pytest
import torch

from synthbench.errors import UsageError
from synthbench.training.backbones.stack import StackRNN, moved
from synthbench.training.backbones.tape import Spectrum, TapeRNN

PUSH, POP, KEEP = torch.eye(3).tolist()
STAY, LEFT, RIGHT, JUMP_LEFT, JUMP_RIGHT = torch.eye(5).tolist()


def after(steps, most=None):
    """The cells of one stack of numbers after steps of (weights, value)."""
    stacks = torch.zeros(1, 1, 1, 1)
    for actions, value in steps:
        stacks = moved(stacks, torch.tensor([[actions]]), torch.tensor([[[value]]]), most)
    return stacks.flatten().tolist()


def test_a_stack_pushes_pops_and_keeps():
    assert after([(PUSH, 5.0)]) == [5, 0]
    assert after([(PUSH, 5.0), (PUSH, 7.0)]) == [7, 5, 0]
    assert after([(PUSH, 5.0), (PUSH, 7.0), (KEEP, 9.0)]) == [7, 5, 0, 0]
    assert after([(PUSH, 5.0), (PUSH, 7.0), (POP, 9.0)]) == [5, 0, 0, 0]
    assert after([(POP, 1.0), (POP, 1.0)]) == [0, 0, 0]


def test_a_stacks_actions_are_mixed():
    # push 8: [8, 4, 0]; pop: [0, 0, 0]; keep: [4, 0, 0].
    assert after([(PUSH, 4.0), ([0.25, 0.25, 0.5], 8.0)]) == [4, 1, 0]


def test_a_full_stack_loses_what_is_at_its_bottom():
    pushes = [(PUSH, 1.0), (PUSH, 2.0), (PUSH, 3.0)]
    assert after(pushes, most=2) == [3, 2]
    assert after([*pushes, (POP, 0.0)], most=2) == [2, 0]
    assert after(pushes, most=1) == [3]


@pytest.mark.parametrize("most", [None, 4])
def test_a_stack_rnn_is_its_equations(most):
    torch.manual_seed(0)
    rnn = StackRNN(6, 3, num_stacks=2, stack_size=most).double()
    inputs = torch.randn(1, 9, 6, dtype=torch.float64)
    controller = rnn.controller
    hidden = torch.zeros(6, dtype=torch.float64)
    cells = torch.zeros(2, 99, 3, dtype=torch.float64)  # stack, cell, number
    for place in range(9):
        known = torch.cat([hidden, cells[:, 0].flatten()])
        hidden = torch.relu(controller.input(inputs[0, place]) + controller.recurrent(known))
        torch.testing.assert_close(rnn(inputs)[0, place], hidden)
        actions = rnn.actions(hidden).view(2, 3).softmax(-1)
        values = rnn.values(hidden).view(2, 3)
        new = torch.zeros_like(cells)
        for stack in range(2):
            push, pop, keep = actions[stack]
            for cell in range(most or 98):
                above = values[stack] if cell == 0 else cells[stack, cell - 1]
                below = cells[stack, cell + 1]
                new[stack, cell] = push * above + pop * below + keep * cells[stack, cell]
        cells = new


def turned(size, length, steps):
    """What the head reads on one tape of numbers after each step of (weights, value)."""
    spectrum = Spectrum(size, torch.tensor([length]))
    tapes, read, seen = spectrum.empty(1, 1), torch.zeros(1, 1, 1), []
    for moves, value in steps:
        tapes = spectrum.step(tapes, value - read, torch.tensor([[moves]]))
        read = spectrum.read(tapes)
        seen.append(round(read.item(), 5) + 0.0)
    return seen


def test_a_tape_writes_then_moves():
    """Each number is written where the head stands, then it moves and reads."""
    assert turned(5, 2, [(STAY, 3.0), (STAY, 4.0)]) == [3, 4]
    assert turned(5, 2, [(RIGHT, 3.0), (LEFT, 4.0), (RIGHT, 5.0)]) == [0, 3, 4]
    assert turned(5, 2, [(LEFT, 3.0), (RIGHT, 4.0)]) == [0, 3]
    around = [(RIGHT, float(value)) for value in range(1, 6)]
    assert turned(5, 2, around) == [0, 0, 0, 0, 1]
    assert turned(5, 2, [*around, (RIGHT, 9.0)]) == [0, 0, 0, 0, 1, 2]


def test_a_tape_jumps_by_the_length_of_the_question():
    # Written 1, 2, 3 at cells 0, 1, 2; from cell 2 the jump left goes to cell 0, and back.
    steps = [(RIGHT, 1.0), (RIGHT, 2.0), (JUMP_LEFT, 3.0), (JUMP_RIGHT, 8.0), (JUMP_LEFT, 6.0)]
    for size in (7, 8):
        assert turned(size, 2, steps) == [0, 0, 1, 3, 8]
    assert turned(2, 3, [(RIGHT, 1.0), (JUMP_LEFT, 2.0), (LEFT, 3.0)]) == [0, 1, 2]
    assert turned(1, 4, [(JUMP_RIGHT, 1.0), (LEFT, 2.0)]) == [1, 2]


def test_a_tapes_moves_are_mixed():
    # Cells 4 and 0, head at the second: a quarter of staying, three of going left.
    assert turned(5, 2, [(RIGHT, 4.0), ([0.25, 0.75, 0.0, 0.0, 0.0], 8.0)]) == [0, 5]


@pytest.mark.parametrize("size", [1, 2, 7, 8, 64])
def test_a_tape_rnn_is_its_equations(size):
    torch.manual_seed(0)
    rnn = TapeRNN(6, 3, num_tapes=2, tape_size=size, mask_id=5)
    inputs = torch.randn(2, 40, 6)
    tokens = torch.tensor([[1] * 30 + [5] * 10, [2] * 7 + [5] * 4 + [0] * 29])
    lengths = torch.tensor([40, 11])
    outputs = rnn(inputs, tokens, lengths)
    controller = rnn.controller
    for row, question in enumerate([30, 7]):
        hidden, cells = torch.zeros(6), torch.zeros(2, size, 3)
        for place in range(40):
            known = torch.cat([hidden, cells[:, 0].flatten()])
            hidden = torch.relu(controller.input(inputs[row, place]) + controller.recurrent(known))
            torch.testing.assert_close(outputs[row, place], hidden, atol=1e-5, rtol=1e-5)
            moves = rnn.moves(hidden).view(2, 5).softmax(-1)
            cells[:, 0] = rnn.values(hidden).view(2, 3)
            rings = [cells.roll(-turn, 1) for turn in (0, -1, 1, -question, question)]
            cells = sum(moves[:, move, None, None] * ring for move, ring in enumerate(rings))


def test_without_a_mask_token_the_question_is_the_whole_row():
    rnn = TapeRNN(6)
    tokens, lengths = torch.tensor([[1, 5, 5, 0], [2, 2, 5, 5]]), torch.tensor([3, 4])
    assert rnn._question_lengths(tokens, lengths).tolist() == [3, 4]
    rnn = TapeRNN(6, mask_id=5)
    assert rnn._question_lengths(tokens, lengths).tolist() == [1, 2]


def test_sizes_of_stack_and_tape_are_no_sizes_of_parameters():
    """A model trained with a small memory is evaluated with a large one."""
    small, large = StackRNN(8, stack_size=3), StackRNN(8, stack_size=500)
    large.load_state_dict(small.state_dict())
    small_tape, large_tape = TapeRNN(8, tape_size=4), TapeRNN(8, tape_size=500)
    large_tape.load_state_dict(small_tape.state_dict())


def test_what_makes_no_sense_is_refused():
    for model, options in (
        (StackRNN, ("d_model", "cell_size", "num_stacks", "stack_size")),
        (TapeRNN, ("d_model", "cell_size", "num_tapes", "tape_size")),
    ):
        for option in options:
            for value in (0, -1, 1.5, True, "many"):
                with pytest.raises(UsageError, match=option):
                    model(**{"d_model": 8, option: value})
    with pytest.raises(UsageError, match="mask_id"):
        TapeRNN(8, mask_id=-1)
