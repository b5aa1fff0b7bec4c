"""LSTM and DNC: what they answer, and the computer's parts against a cell-by-cell evaluation."""

import pytest
import torch
from torch.nn import functional

from synthbench.training.backbones.dnc import (
    DNC,
    Memory,
    allocation_weights,
    content_weights,
    linked,
    sharpened,
)
from synthbench.training.backbones.lstm import LSTM
from synthbench.training.backbones.states import States
from synthbench.training.models.output import Record
from tests.training.making import classifier

VOCABULARY, CLASSES = 9, 5
MODELS = {
    "lstm": lambda: classifier(LSTM(VOCABULARY, d_model=16, num_layers=2, dropout=0.2), CLASSES),
    "bilstm": lambda: classifier(
        LSTM(VOCABULARY, d_model=16, num_layers=2, bidirectional=True), CLASSES
    ),
    "dnc": lambda: classifier(DNC(VOCABULARY, d_model=16, cells=5, width=6, read_heads=2), CLASSES),
}


@pytest.fixture(params=list(MODELS))
def model(request):
    torch.manual_seed(1)
    return MODELS[request.param]().eval()


def padded_rows(seed=0):
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.tensor([6, 1, 4, 2, 6, 3])
    tokens = torch.randint(1, VOCABULARY, (6, 6), generator=generator)
    return tokens * (torch.arange(6) < lengths[:, None]), lengths


def test_every_token_counts(model):
    tokens, _ = padded_rows()
    scores = model(tokens[:1]).scores
    for place in range(6):
        other = tokens[:1].clone()
        other[0, place] = other[0, place] % (VOCABULARY - 1) + 1
        assert (model(other).scores - scores).abs().max() > 1e-5


def test_a_record_holds_the_states_after_each_layer(model):
    tokens, lengths = padded_rows()
    record = Record()
    scores = model(tokens, lengths, record).scores
    assert len(record["hidden"]) == (2 if isinstance(model.backbone, LSTM) else 1)
    assert all(hidden.shape[:2] == tokens.shape for hidden in record["hidden"])
    torch.testing.assert_close(scores, model(tokens, lengths).scores)


def test_dropout_meets_the_embedding_and_what_goes_from_layer_to_layer_only():
    def dropped_sizes(model):
        sizes = []
        dropout = model.backbone.dropout
        dropout.register_forward_hook(lambda _, given, made: sizes.append(given[0].shape[-1]))
        model.train()(*padded_rows())
        return sizes

    lstm = LSTM(VOCABULARY, d_model=24, d_embedding=8, num_layers=3)
    assert dropped_sizes(classifier(lstm, CLASSES)) == [8, 24, 24]
    dnc = classifier(DNC(VOCABULARY, d_model=24, d_embedding=8, width=5), CLASSES)
    assert dropped_sizes(dnc) == [8]


def test_the_classifier_reads_the_last_real_state_of_each_direction():
    torch.manual_seed(4)
    model = classifier(LSTM(VOCABULARY, d_model=16, bidirectional=True), CLASSES).eval()
    tokens, lengths = padded_rows()
    record = Record()
    scores = model(tokens, lengths, record).scores
    (hidden,) = record["hidden"]
    onward = hidden[torch.arange(6), lengths - 1, :8]
    ends = torch.cat([onward, hidden[:, 0, 8:]], dim=-1)
    torch.testing.assert_close(
        scores,
        model.head(States(hidden, ends), lengths),
    )


def test_sizes_are_those_of_the_published_program_and_padding_stays_at_zero():
    for model in (classifier(LSTM(VOCABULARY), CLASSES), classifier(DNC(VOCABULARY), CLASSES)):
        assert model.backbone.embedding.weight.shape == (VOCABULARY, 16)
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
        model(*padded_rows()).scores.sum().backward()
        optimizer.step()
        assert not model.backbone.embedding.weight[0].any()
        assert model.backbone.embedding.weight[1:].any(-1).all()
    memory = classifier(DNC(VOCABULARY), CLASSES).backbone.memory
    assert (memory.cells, memory.width, memory.read_heads) == (21, 200, 4)


# The computer's parts, cell by cell as the equations have them.


def weights(*shape, seed=0, total=0.9):
    """Weights over the last axis that sum to `total`."""
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(shape, generator=generator, dtype=torch.float64).softmax(-1) * total


def test_allocation_goes_to_the_least_used_cells_first():
    usage = torch.rand(3, 6, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    expected = torch.zeros_like(usage)
    for row in range(3):
        used = 1.0
        for cell in sorted(range(6), key=lambda cell: usage[row, cell].item()):
            expected[row, cell] = (1 - usage[row, cell]) * used
            used = used * usage[row, cell]
    torch.testing.assert_close(allocation_weights(usage), expected, atol=1e-5, rtol=0)
    full = allocation_weights(torch.ones(1, 4))
    assert full.sum() < 1e-5


def test_allocation_can_be_differentiated_where_cells_are_empty():
    usage = torch.tensor([[0.0, 0.0, 0.7, 0.3]], dtype=torch.float64, requires_grad=True)
    allocation_weights(usage)[0, 1].backward()
    assert torch.isfinite(usage.grad).all()


def test_links_follow_the_order_of_writing():
    cells, steps = 4, 5
    writes = weights(steps, 1, cells, seed=3)
    link = torch.zeros(1, cells, cells, dtype=torch.float64)
    precedence = torch.zeros(1, cells, dtype=torch.float64)
    expected = torch.zeros(cells, cells, dtype=torch.float64)
    for write in writes:
        link = linked(link, precedence, write)
        for i in range(cells):
            for j in range(cells):
                old = (1 - write[0, i] - write[0, j]) * expected[i, j]
                expected[i, j] = 0.0 if i == j else old + write[0, i] * precedence[0, j]
        precedence = (1 - write.sum()) * precedence + write
    torch.testing.assert_close(link[0], expected)
    assert (link[0].sum(dim=0) <= 1).all() and (link[0].sum(dim=1) <= 1).all()


def test_look_up_by_content_is_a_softmax_over_cosine_similarities():
    memory = torch.randn(2, 5, 6, generator=torch.Generator().manual_seed(4))
    keys = torch.randn(2, 3, 6, generator=torch.Generator().manual_seed(5))
    strengths = torch.full((2, 3), 1.5)
    found = content_weights(memory, keys, strengths)
    for row in range(2):
        for head in range(3):
            similarity = functional.cosine_similarity(memory[row], keys[row, head], dim=-1)
            torch.testing.assert_close(found[row, head], torch.softmax(1.5 * similarity, dim=0))


def test_sharpening_keeps_the_order_and_leaves_nothing_linked_at_zero():
    blurred = torch.tensor([[[0.5, 0.3, 0.2], [0.0, 0.0, 0.0]]])
    sharp = sharpened(blurred, torch.tensor([[3.0, 3.0]]))
    expected = torch.tensor([0.125, 0.027, 0.008])
    torch.testing.assert_close(sharp[0, 0], expected / expected.sum(), atol=1e-4, rtol=0)
    assert not sharp[0, 1].any()


def test_a_step_of_the_memory_is_what_the_equations_say():
    """One step with all gates known: usage, write, erase and read, cell by cell (Methods)."""
    torch.manual_seed(7)
    memory = Memory(8, cells=4, width=3, read_heads=2).double()
    controller = torch.randn(1, 8, dtype=torch.float64)
    _, state = memory(controller, memory.start(1))
    _, state = memory(torch.randn(1, 8, dtype=torch.float64), state)
    words, after = memory(controller, state)

    parts = memory.interface(controller)[0].split(list(memory._sizes.values()))
    signal = dict(zip(memory._sizes, parts, strict=True))
    gates = {name: torch.sigmoid(signal[name]) for name in ("free", "erase", "allocation", "write")}
    retention = [
        (1 - gates["free"][0] * state.read[0, 0, i]) * (1 - gates["free"][1] * state.read[0, 1, i])
        for i in range(4)
    ]
    used = [state.usage[0, i] + state.write[0, i] * (1 - state.usage[0, i]) for i in range(4)]
    usage = torch.stack([used[i] * retention[i] for i in range(4)])
    torch.testing.assert_close(after.usage[0], usage)

    keys = signal["keys"].view(1, 3, 3)
    strengths = 1 + functional.softplus(signal["strengths"])[None]
    found = content_weights(state.memory, keys[:, :1], strengths[:, :1])[0, 0]
    free = allocation_weights(usage[None])[0]
    write = gates["write"] * (gates["allocation"] * free + (1 - gates["allocation"]) * found)
    torch.testing.assert_close(after.write[0], write)
    for i in range(4):
        kept = state.memory[0, i] * retention[i] * (1 - write[i] * gates["erase"])
        torch.testing.assert_close(after.memory[0, i], kept + write[i] * signal["vector"])

    found = content_weights(after.memory, keys[:, 1:], strengths[:, 1:])[0]
    modes = signal["modes"].view(2, 3).softmax(-1)
    powers = 1 + functional.softplus(signal["powers"])[None]
    forward = sharpened(state.read @ after.link.transpose(1, 2), powers[:, :2])[0]
    backward = sharpened(state.read @ after.link, powers[:, 2:])[0]
    for head in range(2):
        ways = torch.stack([backward[head], found[head], forward[head]])
        read = modes[head] @ ways
        torch.testing.assert_close(after.read[0, head], read)
        torch.testing.assert_close(words[0, head], read @ after.memory[0])
