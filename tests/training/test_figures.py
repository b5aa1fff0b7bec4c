"""Figures of tiny runs: what each shows is what the model did, and what is missing says why."""

import json
import shutil

import numpy as np
import pytest
import torch

import synthbench
from synthbench.errors import DatasetError, SynthbenchError, UsageError
from synthbench.tasks.registry import task as make_task
from synthbench.training.figures import FIGURES, draw_figures
from synthbench.training.figures.figure import Unavailable, numbers, open_run
from synthbench.training.models.output import Record
from synthbench.training.recipes.dnas import centre_distance
from synthbench.training.train import train
from tests.tasks.tiny_sources import write_sources

pytestmark = pytest.mark.slow

SMALL = {"d_model": 8, "num_heads": 2, "num_layers": 3, "d_ff": 8}
ENCODER = {**SMALL, "test_layers": 3, "begin_end": True}
CTL = {"train": 100, "iid": 20, "validation": 20, "test": 20}
#: A run for each kind of figure: task, model, options and rows.
RUNS = {
    "ndr": ("ctl", "ndr", ENCODER, CTL),
    "act": ("ctl", "ndr", {**ENCODER, "halting": "graves"}, CTL),
    "hybrid": ("ctl", "transformer", {**ENCODER, "attention": "hybrid"}, CTL),
    "lstm": ("ctl", "lstm", {"d_model": 8}, CTL),
    "parity": ("parity", "normsoftmax", {}, {"train": 100, "test": 60}),
    "counting": ("grid-count", "counting", {}, {"train": 100, "iid": 4, "test": 14}),
    "counting-norm": (
        "grid-count",
        "counting-norm-attention",
        {},
        {"train": 100, "iid": 4, "test": 14},
    ),
    "identity": ("identity", "identity", {}, {"train": 100, "iid": 9, "test": 9}),
    "clusters": (make_task("clusters", "unbalanced"), "clusters-dnas", {}, {"test": 3}),
    "vit": (
        "composites",
        "vit",
        {**SMALL, "patch": 14},
        {"train": 20, "validation": 20, "test": 20},
    ),
}
#: What each run can show.
MAPS = {"attention", "key-mass", "explained-away"}
WHOLE = {*MAPS, "attention-scores", "attention-probes", "slingshots"}
COUNTS = {"curves", "attention", "key-mass", "probes", "counts", "paper-grid", "slingshots"}
REGIONS = {"attention-image", "region-gradients", "region-course"}
SHOWN = {
    "ndr": {"curves", "places", *WHOLE, "gates", "probes"},
    "act": {"curves", "places", *WHOLE, "gates", "probes", "halting"},
    "hybrid": {"curves", "places", *WHOLE, "probes", "hybrid", "hybrid-course"},
    "lstm": {"curves", "places", "probes", "slingshots"},
    "parity": {"curves", *WHOLE, "gradients", "probes", *REGIONS},
    "counting": {*COUNTS},
    "counting-norm": {*COUNTS, "norm-inputs"},
    "identity": {"curves", "slingshots"},
    "clusters": {*MAPS, "points", "centres"},
    "vit": {*("curves", "gradients", "probes"), *WHOLE, *REGIONS},
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The runs of `RUNS`, made when they are first asked for."""
    root = tmp_path_factory.mktemp("runs")

    def make(name):
        task, model, options, rows = RUNS[name]
        recipe = {"steps": 4, "validate_every": 2, "batch_size": 16}
        train(
            task,
            model=model,
            out=root / name,
            options=options,
            rows=rows,
            recipe=recipe if name != "clusters" else {},
            device="cpu",
            keep_checkpoints=2,
            progress=False,
        )
        return root / name

    made = {}

    def made_once(name):
        if name not in made:
            made[name] = make(name)
        return made[name]

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SYNTHBENCH_DATA", str(write_sources(tmp_path_factory.mktemp("sources"))))
        yield made_once


def data_of(drawn):
    """The data of each figure that was drawn, by name."""
    return {
        one.name: json.loads(one.file.with_suffix(".json").read_text("utf-8"))
        for one in drawn
        if one.file
    }


@pytest.mark.parametrize("name", list(RUNS))
def test_a_run_shows_what_it_has_and_says_why_it_lacks_the_rest(name, runs, tmp_path):
    drawn = draw_figures(runs(name), out=tmp_path)
    assert [one.name for one in drawn] == list(FIGURES)
    assert {one.name for one in drawn if one.file} == SHOWN[name]
    for one in drawn:
        if one.file:
            assert one.file.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
            about = json.loads(one.file.with_suffix(".json").read_text("utf-8"))
            assert about["figure"] == one.name and about["seed"] == 0
        else:
            assert len(one.reason) > 10
    assert len(list(tmp_path.iterdir())) == 2 * len(SHOWN[name])


def test_the_same_run_gives_the_same_bytes(runs, tmp_path):
    for place in ("one", "other"):
        names = ["curves", "attention", "gates"]
        draw_figures(runs("ndr"), out=tmp_path / place, names=names)
    one, other = (
        {file.name: file.read_bytes() for file in (tmp_path / place).iterdir()}
        for place in ("one", "other")
    )
    assert one == other


def test_maps_are_the_chosen_rows_and_gates_are_means_over_units(runs, tmp_path):
    drawn = draw_figures(
        runs("ndr"), out=tmp_path, split="iid", row=3, names=["attention", "gates"]
    )
    shown = data_of(drawn)
    run = open_run(runs("ndr"), split="iid")
    rows = run.rows
    length = int(rows.lengths[3])
    record = Record()
    with torch.inference_mode():
        run.model(rows.inputs[3:4, :length].long(), rows.lengths[3:4], record)
    text = list(run.dataset.rows("forward", "iid"))[3]["text"]
    assert shown["attention"]["columns"] == ["B", *text.split(), "E"]
    np.testing.assert_allclose(
        np.array(shown["attention"]["steps"]),
        torch.cat(record["attention"]).numpy(),
        rtol=1e-5,
        atol=1e-7,
    )
    gates = torch.cat(record["gate"]).mean(dim=-1).numpy()
    np.testing.assert_allclose(np.array(shown["gates"]["steps"]), gates, rtol=1e-5)


def test_key_mass_and_histogram_count_every_real_key_once(runs, tmp_path):
    names = ["attention", "key-mass", "explained-away", "hybrid"]
    shown = data_of(draw_figures(runs("hybrid"), out=tmp_path, names=names))
    maps, mass = shown["attention"], shown["key-mass"]
    sums = np.array(maps["steps"]).sum(axis=2).mean(axis=1)
    np.testing.assert_allclose(np.array(mass["steps"]), sums, rtol=1e-4)
    rows = open_run(runs("hybrid"), split="test").rows
    keys = int((rows.lengths + 2).sum()) * SMALL["num_heads"]
    histogram = shown["explained-away"]
    assert [sum(counts) for counts in histogram["keys"]] == [keys] * SMALL["num_layers"]
    assert histogram["explained_away"] == [0.0] * SMALL["num_layers"]
    assert np.array(shown["hybrid"]["layers"]).shape == (3, 2)
    assert all(0 < weight < 1 for layer in shown["hybrid"]["layers"] for weight in layer)


def test_halting_steps_stand_by_length(runs, tmp_path):
    shown = data_of(draw_figures(runs("act"), out=tmp_path, names=["halting"], split="iid"))
    halting = shown["halting"]
    lengths = open_run(runs("act"), split="iid").rows.lengths
    assert halting["lengths"] == sorted(set(lengths.tolist()))
    for least, mean, most in zip(halting["least"], halting["mean"], halting["most"], strict=True):
        assert 1 <= least <= mean <= most <= SMALL["num_layers"]


def test_curves_hold_what_was_measured_and_gradients_each_layers_three(runs, tmp_path):
    shown = data_of(draw_figures(runs("parity"), out=tmp_path, names=["curves", "gradients"]))
    lines = [
        json.loads(line) for line in (runs("parity") / "metrics.jsonl").read_text().splitlines()
    ]
    assert shown["curves"]["at"] == [line["epoch"] for line in lines]
    assert set(shown["curves"]["series"]) == {
        f"{split}/{measured}" for split in ("train", "test") for measured in ("loss", "accuracy")
    }
    series = shown["curves"]["series"]
    assert None not in series["train/loss"]
    assert series["test/loss"] == [numbers([line["test/loss"]])[0] for line in lines]
    assert shown["curves"]["eureka"] is None
    (norms,) = shown["gradients"]["layers"].values()
    assert set(norms) == {"W_Q", "W_K", "W_V"}
    assert all(norm > 0 for values in norms.values() for norm in values)


def test_counts_are_those_that_are_evaluated(runs, tmp_path):
    shown = data_of(draw_figures(runs("counting"), out=tmp_path, names=["counts"]))
    result = json.loads((runs("counting") / "result.json").read_text())
    sizes = shown["counts"]["sizes"]
    assert list(sizes) == ["7", "8", "9", "10", "12", "15", "20"]
    run = open_run(runs("counting"))
    for side, pairs in sizes.items():
        rows = [row for row in run.dataset.rows("default", "test") if row["size"] == int(side)]
        coloured = [sum(row["color_counts"][1:]) for row in rows]
        assert sum(n for *_, n in pairs) == sum(coloured)
        right = sum(n for true, said, n in pairs if true == said)
        accuracy = result["splits"]["test"]["by"]["size"][side]["foreground_accuracy"]
        assert right / sum(coloured) == pytest.approx(accuracy, abs=0.1)


def test_deviations_before_layernorm_are_split_by_right_and_wrong_cells(runs, tmp_path):
    shown = data_of(draw_figures(runs("counting-norm"), out=tmp_path, names=["norm-inputs"]))
    sizes = shown["norm-inputs"]["sizes"]
    counted = data_of(draw_figures(runs("counting-norm"), out=tmp_path, names=["counts"]))["counts"]
    run = open_run(runs("counting-norm"))
    inputs = []
    run.model.norm_attention.register_forward_pre_hook(lambda _, args: inputs.append(args[0]))
    for side, outcomes in sizes.items():
        pairs = counted["sizes"][side]
        right = sum(n for true, said, n in pairs if true == said)
        assert outcomes["right"]["cells"] == right == sum(outcomes["right"]["counts"])
        assert outcomes["wrong"]["cells"] == sum(n for *_, n in pairs) - right
        row = [row["size"] for row in run.dataset.rows("default", "test")].index(int(side))
    run.model(run.rows.inputs[row : row + 1, : int(side) ** 2].long())
    low, high = shown["norm-inputs"]["edges"][0], shown["norm-inputs"]["edges"][-1]
    cells = run.rows.inputs[row, : int(side) ** 2] > 0
    assert ((deviations := inputs[0][0].std(dim=-1, correction=0)[cells]) >= low).all()
    assert (deviations <= high).all()


def test_the_papers_grid_has_a_weight_for_each_pair_of_cells(runs, tmp_path):
    shown = data_of(draw_figures(runs("counting"), out=tmp_path, names=["paper-grid"]))
    grid, weights = shown["paper-grid"]["grid"], np.array(shown["paper-grid"]["weights"])
    assert weights.shape == (9, 9) and len(shown["paper-grid"]["counts"]) == 9
    same = [place for place, color in enumerate(grid) if color == 6]
    np.testing.assert_array_equal(weights[same[0]], weights[same[1]])  # without positions


def test_several_runs_are_drawn_in_one_call_and_checked_before_any(runs, tmp_path):
    both = [runs("lstm"), runs("parity")]
    drawn = draw_figures(both, out=tmp_path / "both", names=["curves"])
    assert [one.run for one in drawn] == [path.resolve() for path in both]
    assert [one.file.relative_to(tmp_path / "both").parts for one in drawn] == [
        ("lstm", "curves.png"), ("parity", "curves.png")
    ]  # fmt: skip
    with pytest.raises(SynthbenchError, match="No run at"):
        draw_figures([runs("lstm"), tmp_path / "nowhere"], out=tmp_path / "absent")
    assert not (tmp_path / "absent").exists()


def test_a_step_measures_the_distances_of_the_equations(runs, tmp_path):
    shown = data_of(draw_figures(runs("clusters"), out=tmp_path, names=["centres"]))["centres"]
    for half, found in shown["by_half"].items():
        for number, name in enumerate(("softmax", "doubly-normalised")):
            expected = [centre_distance(r, float(half))[number] for r in shown["measured_at"]]
            np.testing.assert_allclose(found[name]["measured"], expected, rtol=1e-4)


def test_checkpoints_show_the_course_of_the_hybrid_weight(runs, tmp_path):
    shown = data_of(draw_figures(runs("hybrid"), out=tmp_path, names=["hybrid-course", "hybrid"]))
    course = shown["hybrid-course"]
    assert len(course["at"]) == len(course["layers"]) == 2
    assert course["at"][0] < course["at"][1]
    assert course["layers"][-1] == shown["hybrid"]["layers"][:1]  # all layers share one attention
    assert course["layers"][0] != course["layers"][1]


def test_points_start_where_they_are_and_end_where_the_model_moves_them(runs, tmp_path):
    shown = data_of(draw_figures(runs("clusters"), out=tmp_path, row=1, names=["points"]))["points"]
    run = open_run(runs("clusters"))
    row = list(run.dataset.rows("unbalanced", "test"))[1]
    moved = run.model(torch.tensor([row["points"]])).scores[0]
    assert len(shown["steps"]) == 5
    np.testing.assert_allclose(shown["steps"][0], row["points"], rtol=1e-5)
    np.testing.assert_allclose(shown["steps"][-1], moved.numpy(), rtol=1e-5)
    assert shown["cluster"] == row["cluster"]


def test_probes_ask_each_layer_for_indicators_targets_and_outcome(runs, tmp_path):
    shown = data_of(draw_figures(runs("vit"), out=tmp_path, names=["probes"]))["probes"]
    assert set(shown["places"]) == {"class token", "quadrants"}
    for layers in shown["places"].values():
        assert len(layers) == SMALL["num_layers"]
        for found in layers:
            assert {"outcome", "indicator (top-left)", "target (top-right)"} < set(found)
            assert set(found) == set(shown["chance"])


def test_regions_have_the_derivatives_of_z_and_the_attention_of_their_patches(runs, tmp_path):
    names = ["region-gradients", "region-course", "attention-image", "attention-scores"]
    shown = data_of(draw_figures(runs("vit"), out=tmp_path, names=names))
    gradients, image = shown["region-gradients"], shown["attention-image"]
    for part in "QKV":
        maps = np.array(gradients["maps"][part])
        assert maps.shape == (SMALL["num_layers"], 4, 4) and (maps > 0).all()
        targets = [(one[:2, 2:].mean() + one[2:, :2].mean()) / 2 for one in maps]
        np.testing.assert_allclose(gradients["regions"][part]["targets"], targets, rtol=1e-4)
    # With V alone, Z is linear: its derivative by a value is the sum of the weights of its key.
    value = np.array(gradients["maps"]["V"])
    d_head, columns = SMALL["d_model"] // SMALL["num_heads"], 17
    np.testing.assert_allclose(value, columns * d_head * np.array(image["maps"]), rtol=1e-3)
    course = shown["region-course"]
    assert len(course["at"]) == 2
    assert np.array(course["parts"]["Q"]["targets"]).shape == (2, SMALL["num_layers"])
    scores = shown["attention-scores"]
    rows = 20
    weights = rows * SMALL["num_heads"] * SMALL["num_layers"] * columns**2
    assert [sum(one) for one in scores["counts"]] == [weights, weights]


def test_regions_of_tokens_are_seen_by_the_query_that_the_answer_is_read_from(runs, tmp_path):
    names = ["region-gradients", "region-course", "attention-image", "attention-scores"]
    shown = data_of(draw_figures(runs("parity"), out=tmp_path, names=names))
    view = open_run(runs("parity"))
    rows, heads, d_head = 60, 4, 4
    weights = torch.cat([taken.record["attention"][0] for taken in view.passes(rows)])[:, :, -1]
    gradients, image = shown["region-gradients"], shown["attention-image"]
    ((line,),) = image["maps"]
    np.testing.assert_allclose(line, weights.mean(dim=(0, 1)), rtol=1e-4)
    np.testing.assert_allclose(gradients["maps"]["V"], [[d_head * np.array(line)]], rtol=1e-4)
    indicators = gradients["regions"]["V"]["indicators"]
    assert indicators == pytest.approx([d_head * np.mean(line[:2])], rel=1e-4)
    assert image["frames"] == [[-0.5, -0.5, 1, 1], [0.5, -0.5, 1, 1]]
    assert len(shown["region-course"]["parts"]["K"]["targets"]) == 2
    assert [sum(one) for one in shown["attention-scores"]["counts"]] == [rows * heads * 5] * 2


def test_regions_need_fixed_places_and_scores_of_queries_and_keys(runs):
    with pytest.raises(Unavailable, match="lacks fixed places"):
        FIGURES["attention-image"].data(open_run(runs("ndr")))


def test_rises_of_the_loss_are_counted_before_and_after_the_moment(runs, tmp_path):
    run = shutil.copytree(runs("lstm"), tmp_path / "run")
    losses = [1.0, 0.5, 4.0, 5.0, 0.4, 0.1, 0.2, 0.9, 0.1]
    first = json.loads((run / "metrics.jsonl").read_text().splitlines()[0])
    lines = [{**first, "epoch": at, "train/loss": loss} for at, loss in enumerate(losses)]
    (run / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = json.loads((run / "result.json").read_text())
    moment = {"split": "test", "step": 5, "epoch": 5.0}
    (run / "result.json").write_text(json.dumps({**result, "eureka": moment}))
    shown = data_of(draw_figures(run, names=["slingshots"]))["slingshots"]
    assert shown["rises"] == [
        {"begin": 2, "end": 3, "factor": 10.0}, {"begin": 7, "end": 7, "factor": 9.0}
    ]  # fmt: skip
    assert (shown["before"], shown["after"]) == (1, 1)


def test_a_loss_that_is_no_number_does_not_end_the_figures(runs, tmp_path):
    run = shutil.copytree(runs("lstm"), tmp_path / "run")
    first, *rest = (run / "metrics.jsonl").read_text().splitlines()
    line = json.dumps({**json.loads(first), "train/loss": None})
    (run / "metrics.jsonl").write_text("\n".join([line, *rest]) + "\n")
    shown = data_of(draw_figures(run, names=["curves"]))
    assert shown["curves"]["series"]["train/loss"][0] is None


def test_what_is_not_there_is_refused_before_anything_is_drawn(runs, tmp_path):
    run = runs("lstm")
    for chosen, text in (
        ({"names": ["gate"]}, "Did you mean 'gates'"),
        ({"split": "tests"}, "Did you mean 'test'"),
        ({"row": 20}, "0 to 19"),
        ({"row": -1}, "Row -1"),
    ):
        with pytest.raises(UsageError, match=text):
            draw_figures(run, out=tmp_path / "figures", **chosen)
    with pytest.raises(SynthbenchError, match=r"No run at .*nowhere"):
        draw_figures(tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    with pytest.raises(SynthbenchError, match="file"):
        draw_figures(run, out=tmp_path / "file" / "figures")
    assert not (tmp_path / "figures").exists()
    dataset = run / "data"
    with pytest.raises(UsageError, match="is the dataset"):
        draw_figures(run, out=dataset)


def test_a_run_whose_data_is_gone_or_another_says_so(runs, tmp_path):
    other = tmp_path / "other"
    synthbench.generate(
        synthbench.task("ctl", seed=1), out=other, rows=CTL, progress=False, workers=1
    )
    with pytest.raises(DatasetError, match="other rows"):
        draw_figures(runs("lstm"), dataset=other)
    with pytest.raises(DatasetError, match="gone"):
        draw_figures(runs("lstm"), dataset=tmp_path / "gone")


def test_accuracy_stands_by_length_and_by_place(runs, tmp_path):
    by = data_of(draw_figures(runs("lstm"), out=tmp_path, names=["places"]))["places"]["by"]
    reports = open_run(runs("lstm")).result["splits"]
    assert set(by) == {"length"}
    for split, series in by["length"].items():
        scores = reports[split]["by"]["length"]
        assert series["at"] == [int(length) for length in scores]
        assert series["mean"] == numbers([one["accuracy"] for one in scores.values()])
        assert series["low"] == numbers([one["accuracy_interval"][0] for one in scores.values()])
