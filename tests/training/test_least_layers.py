"""The report of the least layers."""

from synthbench.training.least_layers import caption, least_layers
from synthbench.training.recipes import find_study

LENGTHS = ("length 5", "length 10")


def compared(**means):
    """A comparison with a mean for each length of each model."""
    lines = [
        {
            "model": name.replace("_", "-"),
            "variant": "A5",
            "runs": [
                {"fit": {"state": "not fitted" if max(map(bool, figures)) == 0 else "fitted"}}
            ],
            "measures": {
                length: {"mean": mean} for length, mean in zip(LENGTHS, figures, strict=True)
            },
        }
        for name, figures in means.items()
    ]
    return {"least": 0.9, "measures": [{"name": one} for one in LENGTHS], "models": lines}


def test_the_least_depth_that_reaches_the_share_is_shown():
    table = least_layers(
        compared(
            lstm_1=(1.0, 0.9), diagonal_1=(0.89, 0.1), diagonal_2=(0.95, None),
            diagonal_4=(0.2, 0.91), transformer_1=(0.0, 0.0), transformer_3=(0.5, 0.89),
            gru_1=(0.0, 0.0),
        )
    )  # fmt: skip
    assert table.head == ["model", "variant", *LENGTHS]
    assert table.rows == [
        ["`lstm`", "A5", "1", "1"],
        ["`diagonal`", "A5", "2", "4"],
        ["`transformer`", "A5", "> 3", "> 3"],
        ["`gru`", "A5", "not learned", "not learned"],
    ]
    assert caption(compared()) == "Least layers with 0.9 of whole rows right"


def test_other_studies_lack_it():
    assert least_layers({"models": []}) is None
    assert find_study("state-tracking", "cpu", "layers").least == 0.9
    assert find_study("state-tracking").least == 0
