"""The command line, as it is called from a shell."""

import csv
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest

from simpdm_frames.commands import main
from simpdm_frames.demo import patients

QUICK = ["--seed", "0", "--steps", "4"]
HOLES = pl.from_pandas(patients(n_rows=60)[1])
WRITERS = {
    ".csv": HOLES.write_csv,
    ".parquet": HOLES.write_parquet,
    ".feather": HOLES.write_ipc,
    ".arrow": HOLES.write_ipc,
    ".jsonl": HOLES.drop("admitted").write_ndjson,  # JSON has no dates
}


@pytest.fixture
def table(tmp_path):
    HOLES.write_parquet(tmp_path / "in.parquet")
    return tmp_path / "in.parquet"


def run(*arguments):
    return main([str(argument) for argument in arguments])


@pytest.mark.parametrize("suffix", WRITERS)
def test_a_file_of_each_format_is_completed(suffix, tmp_path):
    WRITERS[suffix](tmp_path / f"in{suffix}")
    assert run("impute", tmp_path / f"in{suffix}", "-o", tmp_path / f"out{suffix}", *QUICK) == 0
    readers = {".csv": pl.read_csv, ".parquet": pl.read_parquet, ".jsonl": pl.read_ndjson}
    done = readers.get(suffix, pl.read_ipc)(tmp_path / f"out{suffix}")
    assert done.columns == [name for name in HOLES.columns if suffix != ".jsonl" or name != "admitted"]
    assert done.null_count().sum_horizontal().item() == 0


def test_a_csv_file_keeps_its_look(tmp_path):
    rows = [
        ["id", "age", "when", "note"],
        *([str(k), "" if k % 5 == 0 else str(20 + k % 7), "2024-01-05", "x,y"] for k in range(40)),
    ]
    with (tmp_path / "in.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    assert run("impute", tmp_path / "in.csv", "-o", tmp_path / "out.csv", *QUICK) == 0
    with (tmp_path / "out.csv").open(newline="") as file:
        done = list(csv.reader(file))
    assert done[0] == rows[0]
    for before, after in zip(rows[1:], done[1:], strict=True):
        assert [b for b in before if b] == [a for a, b in zip(after, before, strict=True) if b]
        assert after[1].isdecimal()


def test_texts_can_stand_for_holes(tmp_path):
    (tmp_path / "in.csv").write_text("x,y\n" + "1,2\nn/a,3\n-9,1\n" * 10)
    assert (
        run("impute", tmp_path / "in.csv", "-o", tmp_path / "out.csv", "--missing-values=n/a,-9", *QUICK) == 0
    )
    assert set(pl.read_csv(tmp_path / "out.csv")["x"]) == {1}


def test_a_saved_model_fills_as_the_fit_did(table, tmp_path):
    model = tmp_path / "m.simpdm"
    assert run("impute", table, "-o", tmp_path / "one.parquet", "--save-model", model, *QUICK) == 0
    assert run("impute", table, "-o", tmp_path / "two.parquet", "--model", model) == 0
    assert pl.read_parquet(tmp_path / "one.parquet").equals(pl.read_parquet(tmp_path / "two.parquet"))
    assert run("fit", table, "-o", tmp_path / "other.simpdm", *QUICK) == 0
    assert (tmp_path / "other.simpdm").read_bytes() == model.read_bytes()


def test_nothing_is_overwritten_without_force(table, tmp_path, capsys):
    out = tmp_path / "out.csv"
    out.write_text("mine")
    assert run("impute", table, "-o", out, *QUICK) == 1
    assert "--force" in capsys.readouterr().err
    assert out.read_text() == "mine"
    assert run("impute", table, "-o", out, "--force", *QUICK) == 0
    assert out.read_text() != "mine"


def test_plan_and_missing_tell_about_columns(table, capsys):
    assert run("plan", table, "--categorical", "visits") == 0
    told = capsys.readouterr().out
    assert all(name in told for name in HOLES.columns)
    assert "--categorical names it" in told
    assert run("missing", table, "--by", "pattern") == 0
    assert "missing" in capsys.readouterr().out


def test_of_very_many_patterns_the_most_frequent_are_shown(tmp_path, capsys):
    bits = np.unpackbits(np.arange(1, 101, dtype=np.uint8)[:, None], axis=1)
    table = pl.DataFrame(bits, schema=list("abcdefgh")).with_columns(pl.all().replace(1, None))
    table.write_parquet(tmp_path / "in.parquet")
    assert run("missing", tmp_path / "in.parquet", "--by", "pattern") == 0
    assert "… and 60 more" in capsys.readouterr().out


def test_labels_can_be_given_an_order(tmp_path, capsys):
    pl.DataFrame({"size": ["S", "L", None, "M"] * 10, "x": range(40)}).write_csv(tmp_path / "in.csv")
    assert run("plan", tmp_path / "in.csv", "--ordinal", "size=S:M:L,x") == 0
    assert "--ordinal names it: S < M < L" in capsys.readouterr().out


def test_columns_and_files_that_are_called_like_an_option_keep_their_names(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table = pl.DataFrame({"random_state": ["n/a", "x", None, "y"] * 5, "max_rows": range(20)})
    table.write_parquet("time_budget.parquet")
    for command in ("plan", "missing"):
        assert run(command, "time_budget.parquet") == 0
        lines = capsys.readouterr().out.splitlines()
        assert [line.split()[0] for line in lines[1:]] == table.columns
    assert run("plan", "missing_values.csv") == 1
    assert "simpdm: missing_values.csv is not there" in capsys.readouterr().err
    assert run("plan", "time_budget.parquet", "--ignore", "random_stat") == 1
    assert "did you mean 'random_state'?" in capsys.readouterr().err


def test_values_that_may_mean_a_hole_are_hinted_at(tmp_path, capsys):
    (tmp_path / "in.csv").write_text("x,y\n" + "1,2\nn/a,3\n2,\n" * 10)
    assert run("impute", tmp_path / "in.csv", "-o", tmp_path / "out.csv", *QUICK) == 0
    assert "hint: 'x' (String): declare ['n/a'] in --missing-values" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["impute", "nothing.csv", "-o", "x.csv"], 1, "nothing.csv is not there"),
        (["impute", "in.parquet", "-o", "x.xlsx"], 1, "'.xlsx'; known are"),
        (["impute", "in.parquet", "-o", "x.csv", "--model", "in.parquet"], 1, "in.parquet is no model file"),
        (["impute", "in.parquet", "-o", "x.csv", "--ignore", "agee"], 1, "--ignore names 'agee'"),
        (["impute", "in.parquet", "-o", "x.csv", "--ignore", "agee"], 1, "did you mean 'age'"),
        (["impute", "in.parquet", "-o", "x.csv", "--ordinal", "ward"], 1, "--ordinal ward=lowest:…:highest"),
        (["impute", "in.parquet", "-o", "x.csv", "--model", "m", "--steps", "3"], 2, "--steps"),
        (["plan", "broken.parquet"], 1, "cannot be read as parquet"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(arguments, code, message, table, monkeypatch, capsys):
    monkeypatch.chdir(table.parent)
    (table.parent / "broken.parquet").write_bytes(b"PAR1 or so")
    assert run(*arguments) == code
    told = capsys.readouterr().err
    assert message in told
    assert told.startswith("simpdm: ")
    assert "Traceback" not in told
    assert not (table.parent / "x.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["impute"], "required"),
        (["inpute", "in.csv"], "did you mean 'impute'?"),
        (["plan", "in.csv", "--preset", "fats"], "did you mean 'fast'?"),
        (["plan", "in.csv", "--steps", "0"], "--steps: must be a whole number of at least 1, got '0'"),
        (["plan", "in.csv", "--time-budget", "soon"], "--time-budget: must be a number of seconds above 0"),
        (["plan", "in.csv", "--categoricals=x"], "did you mean '--categorical'?"),
    ],
)
def test_a_wrong_command_is_told_from_wrong_data(arguments, message, capsys):
    with pytest.raises(SystemExit) as left:
        run(*arguments)
    assert left.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_a_file_without_commas_is_not_taken_for_one_column(separator, tmp_path, capsys):
    (tmp_path / "in.csv").write_text("a,b\n1,2\n3,\n5,6\n".replace(",", separator))
    assert run("impute", tmp_path / "in.csv", "-o", tmp_path / "out.csv", *QUICK) == 1
    assert f"if {separator!r} separates its fields, save it with commas" in capsys.readouterr().err


def test_a_reader_that_has_seen_enough_is_no_error(table):
    command = [sys.executable, "-m", "simpdm_frames", "missing", str(table)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    child.stdout.close()  # before anything could be written
    assert child.stderr.read() == ""
    child.stderr.close()
    assert child.wait() == 128 + signal.SIGPIPE


def test_warnings_are_one_line(tmp_path, capsys):
    HOLES.with_columns(empty=pl.lit(None)).write_parquet(tmp_path / "in.parquet")
    assert run("impute", tmp_path / "in.parquet", "-o", tmp_path / "out.parquet", *QUICK) == 0
    assert "simpdm: warning: " in capsys.readouterr().err


FROM_THE_SHELL = """
import sys, torch
from simpdm_frames.commands import main
print("ready", flush=True)
while not (code := main(sys.argv[2:])) and sys.argv[1] == "again":
    pass
sys.exit(code)
"""


def start(how, *arguments):
    """Start a command in another process, once or again and again, and wait until all is imported."""
    child = subprocess.Popen(
        [sys.executable, "-c", FROM_THE_SHELL, how, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout.readline() == "ready\n"
    return child


def test_an_interrupt_leaves_nothing(tmp_path):
    pl.concat([HOLES] * 200).write_parquet(tmp_path / "in.parquet")
    child = start("once", "impute", tmp_path / "in.parquet", "-o", tmp_path / "out.parquet", "--steps", 10**6)
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    _, told = child.communicate(timeout=60)
    assert child.returncode == 130
    assert "interrupted" in told
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]


def test_a_killed_imputation_leaves_the_old_file(table, tmp_path):
    out, model = tmp_path / "out.parquet", tmp_path / "m.simpdm"
    assert run("impute", table, "-o", out, "--save-model", model, *QUICK) == 0
    whole = out.read_bytes()
    random = np.random.default_rng(0)
    for _ in range(20):
        child = start("again", "impute", table, "-o", out, "--model", model, "--force")
        time.sleep(random.uniform(0, 0.5))
        child.kill()
        child.communicate()
        assert out.read_bytes() == whole  # the same model gives the same file
    others = {path.name for path in tmp_path.iterdir()} - {"in.parquet", "out.parquet", "m.simpdm"}
    assert all(name.startswith(".out.parquet.") for name in others)


@pytest.mark.parametrize("words", [("True", "False"), ("true", "false"), ("TRUE", "FALSE")])
def test_truth_values_are_spelled_as_they_were(words, tmp_path):
    lines = [f"{k},{words[k % 2] if k % 5 else 'n/a'}" for k in range(30)]  # the first one tells nothing
    (tmp_path / "in.csv").write_text("\n".join(["x,flag", *lines]) + "\n")
    command = ["impute", tmp_path / "in.csv", "-o", tmp_path / "out.csv", "--missing-values", "n/a"]
    assert run(*command, *QUICK) == 0
    with (tmp_path / "out.csv").open() as file:
        cells = [row["flag"] for row in csv.DictReader(file)]
    assert {*cells} <= {*words}
    assert all(cell == words[k % 2] for k, cell in enumerate(cells) if k % 5)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_the_demo_saves_its_table(suffix, tmp_path, capsys):
    path = tmp_path / f"patients{suffix}"
    assert run("demo", "-o", path) == 0
    saved = pl.read_csv(path) if suffix == ".csv" else pl.read_parquet(path)
    assert saved["patient_id"].to_list() == list(range(1000, 1600))
    assert 0.15 < saved.null_count().sum_horizontal().item() / saved.height / 7 < 0.25
    assert run("demo", "-o", path) == 1
    assert "pass --force to overwrite it" in capsys.readouterr().err
    assert run("demo", "-o", path, "--force") == 0
    assert run("demo", "-o", tmp_path / "patients.txt") == 1
    assert "must end in .csv or .parquet" in capsys.readouterr().err


ODD_FIELDS = {
    "zip": "01234",
    "price": "1.50",
    "far": "1e5",
    "flag": "TRUE",
    "other_flag": "false",
    "when": "2024-01-05 10:00:00",
    "iso": "2024-01-05T10:00:00.500000",
    "short": "2024-01-05 10:00",
    "day": "2024-01-05",
    "text": 'a "quoted", text',
    "^z.*$": "7",
    "*": "8.25",
}


def test_from_csv_to_csv_every_field_stays_to_the_letter(tmp_path):
    names = list(ODD_FIELDS)
    rows = [
        [
            "" if (k + place) % 6 == 0 else "-" if (k + place) % 11 == 0 else ODD_FIELDS[name]
            for place, name in enumerate(names)
        ]
        for k in range(40)
    ]
    with (tmp_path / "in.csv").open("w", newline="") as file:
        csv.writer(file).writerows([names, *rows])
    command = ["impute", tmp_path / "in.csv", "-o", tmp_path / "out.csv", "--missing-values", "-", *QUICK]
    assert run(*command, "--ignore", "text") == 0
    with (tmp_path / "out.csv").open(newline="") as file:
        done = list(csv.reader(file))
    assert done[0] == names
    for before, after in zip(rows, done[1:], strict=True):
        for name, was, now in zip(names, before, after, strict=True):
            if was not in {"", "-"} or name == "text":
                assert now == was  # what is left keeps the word for its hole, too
            elif name in {"flag", "other_flag", "when", "iso", "short", "day"}:
                assert now == ODD_FIELDS[name]  # the only value there is, spelled as it was
            elif name in {"zip", "price"}:
                assert now == ODD_FIELDS[name]
            else:
                assert float(now) == float(ODD_FIELDS[name])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"x,y\n1,2\n1,2,3\n4,\n", "cannot be read as csv"),
        (b"x,y\n1,caf\xe9\n2,\n", "cannot be read as csv"),
        (b"x,x\n1,2\n", "columns of the same name: 'x'"),
    ],
)
def test_a_broken_csv_file_is_told_in_one_line(content, message, tmp_path, capsys):
    (tmp_path / "in.csv").write_bytes(content)
    assert run("impute", tmp_path / "in.csv", "-o", tmp_path / "out.csv", *QUICK) == 1
    told = capsys.readouterr().err
    assert message in told
    assert len(told.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["impute", "in.parquet", "-o", "x.xlsx"], "'.xlsx'; known are"),
        (["impute", "in.parquet", "-o", "nowhere/x.csv"], "the folder of nowhere/x.csv is not there"),
        (["impute", "in.parquet", "-o", "x.csv", "--save-model", "nowhere/m.simpdm"], "nowhere"),
        (["fit", "in.parquet", "-o", "nowhere/m.simpdm"], "nowhere"),
        (["plan", "in.parquet", "--missing-values", "n/a"], "--missing-values is about CSV files"),
    ],
)
def test_what_cannot_be_done_is_said_before_any_training(arguments, message, table, monkeypatch, capsys):
    monkeypatch.chdir(table.parent)
    monkeypatch.setattr("simpdm_frames.fit", lambda *_, **__: pytest.fail("it began to train"))
    assert run(*arguments) == 1
    assert message in capsys.readouterr().err


def test_codes_with_a_leading_zero_are_text_in_every_format(tmp_path):
    lines = [f"{k},{'' if k % 5 == 0 else '0106' + str(k % 3)},{k / 4:.2f}" for k in range(30)]
    (tmp_path / "in.csv").write_text("\n".join(["x,code,price", *lines]) + "\n")
    assert run("impute", tmp_path / "in.csv", "-o", tmp_path / "out.parquet", *QUICK) == 0
    done = pl.read_parquet(tmp_path / "out.parquet")
    assert done["code"].dtype == pl.String
    assert {*done["code"]} == {"01060", "01061", "01062"}


def test_fills_have_the_decimals_of_their_column(tmp_path):
    lines = [
        f"{k},{'' if k % 5 == 0 else f'{k / 4:.2f}'},{'' if k % 7 == 0 else f'{k / 3:.4f}'.rstrip('0')}"
        for k in range(40)
    ]
    (tmp_path / "in.csv").write_text("\n".join(["x,price,free", *lines]) + "\n")
    assert run("impute", tmp_path / "in.csv", "-o", tmp_path / "out.csv", *QUICK) == 0
    with (tmp_path / "out.csv").open() as file:
        rows = [*csv.DictReader(file)]
    assert {len(row["price"].partition(".")[2]) for row in rows} == {2}
    assert max(len(row["free"].partition(".")[2]) for row in rows) == 4


def test_the_version_is_told(capsys):
    with pytest.raises(SystemExit) as left:
        run("--version")
    assert left.value.code == 0
    assert capsys.readouterr().out.startswith("simpdm_frames 0.")
