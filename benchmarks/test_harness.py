"""The harness on a dataset of its own, so that it is tested where the paper's data is not at hand."""

import json

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import components, mixed, overhead, paper
from benchmarks.datasets import load
from benchmarks.rows import Rows, markdown


@pytest.fixture
def own_data(tmp_path, monkeypatch):
    """A small mixed table under a name that has published settings, and an empty results folder."""
    random = np.random.default_rng(0)
    hidden = random.normal(size=60)
    columns = [hidden, hidden + 0.1 * random.normal(size=60), (hidden > 0) * 1.0, random.random(60)]
    text = "\n".join(",".join(f"{value:.6f}" for value in row) for row in zip(*columns, strict=True))
    (tmp_path / "yacht.csv").write_text(f"a,b,c,d\n{text}\n")
    (tmp_path / "datasets.json").write_text(json.dumps({"yacht": {"categorical": ["c"]}}))
    monkeypatch.setenv("SIMPDM_DATA", str(tmp_path))
    monkeypatch.setattr(command, "RESULTS", tmp_path)
    for study in (paper, components, mixed, overhead):
        rows = Rows(study.ROWS.path.stem, study.ROWS.keys, ())
        rows.path, rows.columns = tmp_path / study.ROWS.path.name, study.ROWS.columns
        monkeypatch.setattr(study, "ROWS", rows)
    return tmp_path


STUDIES = {
    "paper": ["--seeds", "0-1", "--steps", "3"],
    "components": ["--seeds", "1", "--steps", "3"],
    "mixed": ["--seeds", "1", "--steps", "20"],
    "overhead": ["--rounds", "2", "--steps", "3"],
}


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
