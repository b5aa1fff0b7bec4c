"""Models and layers from elsewhere, and every model of tokens in every form."""

import importlib.metadata
import random
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from synthbench.cli.main import _run, commands
from synthbench.errors import DatasetError, SynthbenchError, UsageError
from synthbench.streaming.rounds import Rounds
from synthbench.tasks import registry
from synthbench.tasks.registry import task as make_task
from synthbench.training import models as module
from synthbench.training.batches import take
from synthbench.training.directory import RunDirectory
from synthbench.training.figures import draw_figures
from synthbench.training.forms import form_of
from synthbench.training.models import LAYER, MODELS, build
from synthbench.training.predicting import apply
from synthbench.training.recipes import find_study
from synthbench.training.recipes.borrowed import find_recipe
from synthbench.training.reproduce import reproduce
from tests.tasks.test_forms import Recall
from tests.training.making import run

OWN = Path(__file__).with_name("own.py")
SHORT = {"steps": 4, "validate_every": 2}
SMALL = {"d_model": 16, "num_layers": 1}
TOKENS = [name for name, model in MODELS.items() if model.reads == "tokens"]

pytestmark = pytest.mark.usefixtures("study")


@pytest.fixture(scope="module")
def batches():
    """A form of each name, and a small batch in it."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(registry._registered, Recall.name, Recall)
        task = make_task("recall")
        columns = task.rendered(Rounds(task, "test").rows(0).block.take(slice(6)))
        asked = make_task("parity")
        classes = asked.rendered(Rounds(asked, "test").rows(0).block.take(slice(6)))
        forms = [form_of(task, one) for one in ("token-classification", "masked-lm")]
        made = [(form, form.encode(columns)) for form in forms]
        form = form_of(asked)
        return [(one, take(rows, np.arange(6)), one.sizes(rows))
                for one, rows in [*made, (form, form.encode(classes))]]  # fmt: skip


@pytest.mark.parametrize("name", TOKENS)
def test_every_model_of_tokens_serves_every_form(name, batches):
    for form, batch, sizes in batches:
        torch.manual_seed(0)
        heads = {"num_heads": 2} if MODELS[name].reference.endswith("Encoder") else {}
        model = build(name, form, sizes, {"d_model": 16, **heads})
        scores = apply(model, batch).scores
        assert scores.shape == form.score_shape(*batch.inputs.shape)
        loss = form.loss(scores, batch)
        loss.backward()
        assert torch.isfinite(loss)
        assert 0 <= form.measured(scores, batch).mean() <= 1
        assert len(form.answers(scores, batch)) == len(batch.inputs)
        assert all(one.grad is not None for one in model.head.parameters())


@pytest.mark.slow
@pytest.mark.parametrize(
    "chosen",
    [
        {"layer": f"{OWN}:Layer", "options": {**SMALL, "scale": 0.5}},
        {"layer": "tests.training.own:Layer", "options": SMALL},
        {"layer": "torch.nn:GRU", "options": {**SMALL, "hidden_size": 16, "batch_first": True}},
        {"model": f"{OWN}:Make", "options": {"width": 8}},
        {"model": "gru", "options": SMALL},
    ],
    ids=str,
)
def test_a_model_of_ones_own_is_trained_by_the_recipe_of_the_studys_first(chosen, tmp_path, data):
    result = run(tmp_path / "run", data, **{"model": None, **chosen}, recipe=SHORT)
    assert (result["steps"], result["recipe"]["batch_size"]) == (4, 32)
    again = run(tmp_path / "again", data, **{"model": None, **chosen}, recipe=SHORT)
    assert again["splits"] == result["splits"]


LINE = r"own\.py, line \d+, "


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"layer": f"{OWN}:Shorter"}, LINE + r"forward of Shorter gave float32 \(1, 5, 64\): "
         r"expected states \(1, 6, 64\)"),
        ({"layer": f"{OWN}:Raising"}, LINE + r"forward of Raising\(float32 \(1, 6, "
         r"64\)\): RuntimeError"),
        ({"layer": f"{OWN}:NotANumber"}, LINE + "the scores of a row are not finite"),
        ({"layer": f"{OWN}:InPlace"}, LINE + "backward: RuntimeError: one of the variables"),
        ({"layer": f"{OWN}:Cut"}, LINE + "backward: ValueError: no way back"),
        ({"layer": f"{OWN}:AcrossRows"}, "depend on the other rows .*batch_first=true"),
        ({"layer": f"{OWN}:Centred"}, LINE + "the scores of a row depend on the other rows"),
        ({"layer": f"{OWN}:Reversed"}, LINE + "the scores of a row depend on the other rows"),
        ({"layer": f"{OWN}:Rezero"}, LINE + "the scores of a row depend on the other rows"),
        ({"layer": f"{OWN}:GrowingAndStored"}, LINE + r"\S+table had the shape \(0, 1\) and has "
         r"\(6, 1\).*persistent=False"),
        ({"layer": f"{OWN}:Detached"}, LINE + "no parameter of Detached gets a gradient"),
        ({"layer": f"{OWN}:Sparse"}, LINE + r"the gradient of \S+places\.weight is sparse, which"),
        ({"layer": f"{OWN}:ReadsMask"}, LINE + r"reads of ReadsMask is \('mask',\): expected a "
         r"tuple of names among inputs, lengths, positions"),
        ({"layer": f"{OWN}:ReadsText"}, LINE + "reads of ReadsText is 'lengths'"),
        ({"layer": f"{OWN}:ReadsNumber"}, LINE + "reads of ReadsNumber is 5: expected a tuple"),
        ({"layer": f"{OWN}:ReadsLists"}, LINE + r"reads of ReadsLists is \(\['lengths'\],\)"),
        ({"layer": f"{OWN}:Needing"}, LINE + "Needing needs 'heads'.*--option heads=VALUE"),
        ({"layer": f"{OWN}:no_module"}, LINE + "no_module makes int 64: expected an nn.Module"),
        ({"layer": f"{OWN}:WithoutWidth"}, LINE + "WithoutWidth takes no width"),
        ({"layer": f"{OWN}:Layr"}, "Did you mean 'Layer'"),
        ({"layer": f"{OWN}:Layer", "options": {"scal": 2}}, "Did you mean 'scale'"),
        ({"layer": f"{OWN}:Layer", "options": {"d_modell": 2}}, "Did you mean 'd_model'"),
        ({"layer": f"{OWN}:Layer", "options": {"num_layers": 0}}, "num_layers 0"),
        ({"layer": f"{OWN}:OWN"}, "Unknown class"),
        ({"layer": "nowhere.py:Layer"}, "there is no file 'nowhere.py'"),
        ({"layer": "own.py"}, "expected a file and a class such as"),
        ({"model": "no_such_package.models:Make"}, "There is no module 'no_such_package'"),
        ({"model": f"{OWN}:Places"}, LINE + r"forward of Places gave float32 \(1, 6, 8\): "
         r"expected scores \(1, 8\)"),
        ({"model": f"{OWN}:Make", "options": {"widht": 8}}, "Did you mean 'width'"),
        ({"model": f"{OWN}:Layer"}, "Layer needs 'width'"),
        ({"model": "grru"}, "Did you mean 'gru'"),
        ({"model": "vit"}, "Unknown model"),
        ({"model": "lstm", "layer": f"{OWN}:Layer"}, "not both"),
        ({}, "Name a model or a layer"),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_line_before_anything_is_written(chosen, message, tmp_path):
    with pytest.raises(SynthbenchError, match=message) as error:
        run(tmp_path / "run", None, **{"model": None, **chosen}, recipe=SHORT)
    assert len(str(error.value)) < 600
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_layer_may_keep_a_table_that_grows(precision, tmp_path, data):
    chosen = {"model": None, "layer": f"{OWN}:Growing", "options": SMALL, "recipe": SHORT}
    made = run(tmp_path / "run", data, **chosen, precision=precision)
    assert made["precision"] == precision


@pytest.mark.parametrize(
    "name", ["Complex", "CachedMask", "TestTimeTraining", "ExtraState", "Covariance"]
)
def test_what_a_layer_does_in_evaluation_is_up_to_it(name, tmp_path, data):
    """Complex parameters, tables remade at every width, gradients, decompositions."""
    chosen = {"model": None, "layer": f"{OWN}:{name}", "options": SMALL, "recipe": SHORT}
    assert run(tmp_path / "run", data, **chosen)["steps"] == SHORT["steps"]


@pytest.mark.filterwarnings("ignore:The .grad attribute")  # PyTorch's own, of its compiler
@pytest.mark.parametrize("name", ["Compiled", "Wrapped", "WrappedWithout", "Parallel"])
def test_a_compiled_or_wrapped_model_gets_lengths_if_the_one_in_it_takes_them(name, tmp_path, data):
    made = run(tmp_path / "run", data, model=f"{OWN}:{name}", recipe=SHORT)
    assert made["steps"] == SHORT["steps"]


def test_a_model_that_changes_its_input_does_not_change_the_rows(batches):
    form, batch, sizes = batches[-1]
    before = batch.inputs.clone()
    apply(build(f"{OWN}:Hiding", form, sizes, {}), batch)
    assert torch.equal(batch.inputs, before)


def test_two_models_do_not_share_a_layer(tmp_path, data):
    """A cached one would go on from the parameters of the seed before."""
    chosen = {"model": None, "layer": f"{OWN}:shared", "options": {**SMALL, "num_layers": 2}}
    assert run(tmp_path / "run", data, **chosen, recipe=SHORT)["steps"] == SHORT["steps"]
    with pytest.raises(SynthbenchError, match=LINE + "this Layer is in an earlier model, too"):
        run(tmp_path / "again", data, **chosen, seed=1, recipe=SHORT)


def test_a_file_that_cannot_be_imported_is_named_with_its_line(tmp_path):
    for text, message in (
        ("import no_such_thing\n", "line 1, import of .*ModuleNotFoundError"),
        ("x = 1\ny = 1 / 0\n", "line 2, import of .*ZeroDivisionError"),
        ("def (:\n", "line 1, import of .*: invalid syntax"),
    ):
        file = tmp_path / f"broken{len(text)}.py"
        file.write_text(text)
        with pytest.raises(SynthbenchError, match=message):
            run(tmp_path / "run", None, model=f"{file}:Make")


def test_a_loss_that_is_no_number_ends_the_run_with_the_layers_line(tmp_path, data):
    with pytest.raises(SynthbenchError, match=LINE + r"the training loss .* is nan by step \d"):
        run(
            tmp_path / "run", data, model=None, layer=f"{OWN}:LaterNotANumber",
            options=SMALL, recipe=SHORT,
        )  # fmt: skip


def test_a_run_of_changed_code_is_another_run(tmp_path, data):
    file = Path(shutil.copy(OWN, tmp_path / "mine.py"))
    chosen = {"model": f"{file}:Make", "recipe": SHORT}
    first = run(tmp_path / "run", data, **chosen)
    assert run(tmp_path / "run", data, **chosen) == first
    file.write_text(file.read_text() + "\n# changed\n")
    with pytest.raises(UsageError, match=r"holds another run .*code"):
        run(tmp_path / "run", data, **chosen)


@pytest.mark.parametrize("given", ["model", "layer"])
def test_a_run_of_changed_code_has_no_figures(given, tmp_path, data):
    file = Path(shutil.copy(OWN, tmp_path / "mine.py"))
    name = {"model": {"model": f"{file}:Make"}, "layer": {"model": None, "layer": f"{file}:Layer"}}
    options = {"options": SMALL} if given == "layer" else {}
    run(tmp_path / "run", data, **name[given], **options, recipe=SHORT)
    (drawn,) = draw_figures(tmp_path / "run", names=["curves"])
    file.write_text(file.read_text() + "\n# changed\n")
    with pytest.raises(DatasetError, match=r"mine\.py:.* is not the code that the run at"):
        draw_figures(tmp_path / "run", names=["curves"], out=tmp_path / "figures")
    assert drawn.file.is_file() and not (tmp_path / "figures").exists()


def test_an_edited_file_is_read_again_in_the_same_process(tmp_path, data):
    file = Path(shutil.copy(OWN, tmp_path / "mine.py"))
    chosen = {"model": None, "layer": f"{file}:Layer", "options": SMALL, "recipe": SHORT}
    first = run(tmp_path / "first", data, **chosen)
    old = "nn.Linear(width, width), nn.Linear(width, width)"
    bare = "nn.Linear(width, width, 0), nn.Linear(width, width)"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, bare))
    second = run(tmp_path / "second", data, **chosen)
    assert second["model_parameters"] < first["model_parameters"]
    file.write_text("\n" + file.read_text().replace("for gate, new", "for gate in 1 / 0"))
    with pytest.raises(SynthbenchError, match=r"mine\.py, line \d+"):
        run(tmp_path / "third", data, **chosen)


def test_helpers_of_one_name_beside_two_files_stay_apart(tmp_path, data):
    for number in (1, 2):
        folder = tmp_path / f"folder{number}"
        folder.mkdir()
        (folder / "helper_of_mine.py").write_text(f"WIDER = {number}\n")
        (folder / f"mine{number}.py").write_text(
            "from torch import nn\nfrom helper_of_mine import WIDER\n\n\n"
            "class Layer(nn.Sequential):\n    def __init__(self, width):\n"
            "        wide = WIDER * width\n"
            "        super().__init__(nn.Linear(width, wide), nn.Linear(wide, width))\n"
        )
    sizes = [
        run(
            tmp_path / f"run{number}", data, model=None, options=SMALL, recipe=SHORT,
            layer=f"{tmp_path}/folder{number}/mine{number}.py:Layer",
        )["model_parameters"]
        for number in (1, 2)
    ]  # fmt: skip
    assert sizes[0] < sizes[1]


@pytest.mark.parametrize("source", ["np.random.rand", "random.random"])
def test_weights_from_other_generators_follow_the_seed_and_leave_them_as_they_were(
    source, tmp_path, data
):
    (tmp_path / "mine.py").write_text(
        "import random\n\nimport numpy as np\nimport torch\nfrom torch import nn\n\n\n"
        "class Layer(nn.Module):\n    def __init__(self, width):\n        super().__init__()\n"
        f"        self.scale = nn.Parameter(torch.tensor(float({source}())))\n\n"
        f"    def forward(self, states):\n        return states * (self.scale + {source}())\n"
    )
    chosen = {"model": None, "layer": f"{tmp_path}/mine.py:Layer", "options": SMALL}
    losses = []
    for number, seed in enumerate((0, 0, 1)):
        random.random(), np.random.rand()  # the state outside must not matter
        outside = random.getstate(), np.random.get_state()[1].tolist()
        run(tmp_path / f"run{number}", data, recipe=SHORT, seed=seed, **chosen)
        assert (random.getstate(), np.random.get_state()[1].tolist()) == outside
        losses.append(RunDirectory(tmp_path / f"run{number}").metrics()[-1]["train/loss"])
    assert losses[0] == losses[1] != losses[2]


def test_another_package_registers_models_by_name(monkeypatch, tmp_path, data):
    point = importlib.metadata.EntryPoint("ours", "tests.training.own:Make", "synthbench.models")
    points = importlib.metadata.entry_points
    monkeypatch.setattr(
        module.importlib.metadata,
        "entry_points",
        lambda **of: [point] if of == {"group": "synthbench.models"} else points(**of),
    )
    assert run(tmp_path / "run", data, model="ours", recipe=SHORT)["recipe"]["model"] == "ours"


def test_a_borrowed_recipe_is_the_baselines_without_its_own_options():
    study = find_study("ctl")
    base = study.recipes[0]
    borrowed = find_recipe(study, f"{LAYER}{OWN}:Layer")
    assert borrowed.name == "own.Layer"
    assert not borrowed.options
    assert not borrowed.published
    for field in ("steps", "batch_size", "learning_rate", "schedule", "balanced"):
        assert getattr(borrowed, field) == getattr(base, field)


@pytest.mark.slow
def test_a_layer_stands_beside_the_stored_figures(tmp_path, monkeypatch, capsys):
    words = ["reproduce", "identity", "--model", f"{OWN}:Layer"]
    assert _run(commands, words) == 2  # a model of tokens, and rows that are vectors
    assert "reads tokens" in capsys.readouterr().err
    from synthbench.training import recipes
    from synthbench.training.stored import with_stored
    from tests.training.making import STUDY

    stored = find_study("ctl")
    quick = stored.__class__(
        **{**vars(stored), "recipes": STUDY.recipes[1:], "rows": {"train": 200},
           "variants": ("forward",), "seeds": 1}
    )  # fmt: skip
    monkeypatch.setattr(recipes, "STUDIES", (quick,))
    file = tmp_path / "my layers" / "own.py"
    file.parent.mkdir()
    shutil.copy(OWN, file)
    comparison = reproduce(
        "ctl", layers=[f"{file}:Layer"], options=SMALL, out=tmp_path / "out",
        device="cpu", workers=1, progress=False,
    )  # fmt: skip
    names = [(line["model"], line["variant"]) for line in comparison["models"]]
    assert names[0] == ("own.Layer", "forward")
    assert ("ndr (stored)", "forward") in names
    assert {variant for _, variant in names} == {"forward"}
    words = shlex.split(comparison["command"])
    assert words[words.index("--layer") + 1] == f"{file}:Layer"
    assert "--option num_layers=1" in comparison["command"]
    assert "ndr (stored)" in (tmp_path / "out" / "ctl-cpu.md").read_text()
    trained = {**comparison, "models": comparison["models"][:1]}
    assert len(with_stored(trained, [quick.recipes[0]])["models"]) == len(names)
    fewer = [{**one, "rows": 20} for one in trained["measures"]]
    for unlike in ({"precision": "bfloat16"}, {"measures": fewer}):
        other = {**trained, **unlike}
        assert with_stored(other, [quick.recipes[0]]) == other


@pytest.mark.dev
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize(
    ("package", "place", "options"),
    [
        ("mambapy", "{made}:mamba", {}),
        ("x_transformers", "x_transformers.x_transformers:Attention", {"heads": 2, "causal": True}),
        ("minGRU_pytorch", "minGRU_pytorch:minGRU", {}),
    ],
)
def test_layers_of_other_packages_go_in_as_they_are(package, place, options, tmp_path, data):
    pytest.importorskip(package, reason=f"{package} is not installed: the extra dev has it")
    made = tmp_path / "made.py"
    made.write_text(
        "from mambapy.mamba import MambaBlock, MambaConfig\n\n\n"
        "def mamba(width):\n    return MambaBlock(MambaConfig(d_model=width, n_layers=1))\n"
    )
    result = run(
        tmp_path / "run", data, model=None, layer=place.format(made=made),
        options={**SMALL, **options}, recipe=SHORT,
    )  # fmt: skip
    assert result["steps"] == 4
