"""The harness on a dataset of its own, so that it is tested where the paper's data is not at hand."""

import json

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import casestudy, contract, lazy, missing, mixed, scaling, table1
from benchmarks.datasets import load
from benchmarks.published import SIMPDM
from benchmarks.rows import Rows, markdown
from simpdm_frames import presets
from simpdm_frames.settings import Settings


def test_every_study_is_helped_with(capsys):
    with pytest.raises(SystemExit):
        command.make_parser().parse_args(["--help"])
    told = capsys.readouterr().out
    assert [study for study in command.STUDIES if study not in told] == []


@pytest.fixture
def own_data(tmp_path, monkeypatch):
    """A small mixed table under a name that has published settings, and an empty results folder."""
    random = np.random.default_rng(0)
    hidden = random.normal(size=150)
    columns = [hidden, hidden + 0.1 * random.normal(size=150), (hidden > 0) * 1.0, random.random(150)]
    text = "\n".join(",".join(f"{value:.6f}" for value in row) for row in zip(*columns, strict=True))
    for name in ("yacht", "iris"):
        (tmp_path / f"{name}.csv").write_text(f"a,b,c,d\n{text}\n")
    about = {"categorical": ["c"]}
    (tmp_path / "datasets.json").write_text(json.dumps({"yacht": about, "iris": about}))
    monkeypatch.setenv("SIMPDM_DATA", str(tmp_path))
    for module in (command, *command.STUDIES.values()):
        if hasattr(module, "RESULTS"):
            monkeypatch.setattr(module, "RESULTS", tmp_path)
    for study in command.STUDIES.values():
        rows = Rows(study.ROWS.path.stem, study.ROWS.keys, ())
        rows.path, rows.columns = tmp_path / study.ROWS.path.name, study.ROWS.columns
        monkeypatch.setattr(study, "ROWS", rows)
    small = Settings(steps=20, width=16, members=2, scouts=2, smooth_frequency=0.5, frequencies=2)
    monkeypatch.setattr(presets, "PRESETS", dict.fromkeys(presets.PRESETS, lambda *_: small))
    monkeypatch.setattr(presets, "PAPER_DATASETS", {"yacht": small})
    monkeypatch.setattr(casestudy, "STEPS", 20)
    return tmp_path


STUDIES = {
    "table1": ["--seeds", "1-2", "--methods", "default,fast,mean,knn,mice"],
    "ablations": ["--seeds", "1"],
    "missing": ["--seeds", "1", "--methods", "fast,mean"],
    "mixed": ["--seeds", "1", "--methods", "default,mode,knn,missforest"],
    "speed": ["--seeds", "1", "--steps", "2", "--methods", "default,paper"],
    "casestudy": ["--seeds", "1"],
    "paper": ["--seeds", "0-1", "--steps", "3"],
    "budget": ["--rounds", "2", "--budgets", "0.2"],
    "overhead": ["--rounds", "2", "--steps", "3"],
}


# How many steps fit into a budget is the machine's affair.
@pytest.mark.filterwarnings("ignore::simpdm_frames.errors.FewStepsWarning")
@pytest.mark.parametrize("study", STUDIES)
def test_a_study_runs_renders_and_resumes(study, own_data, monkeypatch, capsys):
    words = ["benchmarks", "--threads", "1", study, "--datasets", "yacht", *STUDIES[study]]
    monkeypatch.setattr("sys.argv", words)
    command.main()
    first = (own_data / f"{study}.csv").read_text()
    assert "yacht" in (own_data / f"{study}.md").read_text()
    command.main()
    assert (own_data / f"{study}.csv").read_text() == first
    shown = capsys.readouterr().out
    assert f"Made by `python -m benchmarks {study}` with python" in shown
    assert "threads: 1, commit" in shown


def test_each_preset_is_counted_on_its_own_beside_peers(own_data):
    assert own_data.exists()
    errors = {"fast": (0.3, 0.1), "default": (0.2, 0.1), "knn": (0.25, 0.1)}
    for method, by_rate in errors.items():
        for rate, error in zip((0.1, 0.3), by_rate, strict=True):
            missing.ROWS.append(
                method=method, dataset="yacht", mechanism="MCAR", rate=rate, seed=1, rmse=error, seconds=1.0
            )
    assert missing.render().startswith("Below all peers: `fast` in 0, `default` in 1 of 2 lines.")


def test_a_summary_counts_ranks_and_ratios(own_data):
    for method, error in (("default", 0.1), ("mean", 0.3), ("knn", 0.2)):
        for seed in range(6):
            table1.ROWS.append(method=method, dataset="yacht", seed=seed, rmse=error, seconds=1.0, steps=1)
    text = table1.render()
    assert own_data.exists()
    assert "below the paper: 1 of 1" in text
    assert f"**{0.1 / SIMPDM['yacht'][0]:.3f}**" in text
    assert "| average rank | 1.00 | 3.00 | 2.00 |" in text
    assert "| lowest on | 1 | 0 | 0 |" in text


def test_sizes_scale_in_a_process_of_their_own(own_data, monkeypatch, capsys):
    words = ["benchmarks", "--threads", "1", "scaling", "--sizes", "300x4,600x4,300x8", "--rounds", "1"]
    monkeypatch.setattr("sys.argv", [*words, "--preset", "fast"])
    monkeypatch.setattr(scaling, "STEPS", 40)
    command.main()
    assert len((own_data / "scaling.csv").read_text().splitlines()) == 4
    assert (own_data / "scaling.svg").exists()
    assert "fast, 600 × 4" in capsys.readouterr().out


def test_a_dataset_is_scaled_to_the_unit_interval(own_data):
    dataset = load("yacht")
    assert own_data.exists()
    assert dataset.values.min(0).tolist() == [0] * 4
    assert dataset.values.max(0).tolist() == [1] * 4
    assert dataset.categorical == (2,)


def test_mixed_encoding_hides_the_truth(own_data):
    assert own_data.exists()
    dataset = load("yacht")
    hidden = np.random.default_rng(1).random(dataset.values.shape) < 0.3
    encoded, truth = mixed.encode(dataset, hidden)
    assert np.isnan(encoded.numbers[encoded.missing[:, :3]]).all()
    assert (encoded.codes[encoded.missing[:, 3:]] == -1).all()
    np.testing.assert_array_equal(truth[:, 0], dataset.values[:, 2])


def test_seeds_are_read_as_ranges():
    assert command.seeds("0-2,7") == [0, 1, 2, 7]


def test_markdown_is_a_table():
    assert markdown(["", "a"], [["x", 1]]) == "|  | a |\n| --- | ---: |\n| x | 1 |\n"


def test_every_question_about_frames_is_answered_by_trying(own_data, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["benchmarks", "contract", "--methods", "simpdm_frames,SimpleImputer"])
    command.main()
    rows = contract.ROWS.read()
    assert {row["answer"] for row in rows if row["method"] == "simpdm_frames"} == {"yes"}
    assert {row["answer"].partition(":")[0] for row in rows if row["method"] == "SimpleImputer"} == {
        "yes",
        "no",
    }
    assert (own_data / "contract.md").exists()
    assert "fills polars strings" in capsys.readouterr().out


def test_a_file_is_filled_by_the_command_in_a_process_of_its_own(own_data, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["benchmarks", "lazy", "--rows", "200", "--ways", "command"])
    command.main()
    (row,) = lazy.ROWS.read()
    assert (row["way"], row["holes_left"]) == ("command", "0")
    assert 100 < float(row["peak_mb"]) < 3000
    assert (own_data / "lazy.md").exists()
    assert "rows × 20" in capsys.readouterr().out
