"""The command line: ``simpdm impute in.parquet -o out.parquet``."""

from __future__ import annotations

import argparse
import difflib
import logging
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import simpdm_frames
from simpdm_frames import files

__all__ = ["UsageError", "main", "script"]

_EPILOG = """\
examples:
  fit to a file and fill its holes
    simpdm impute clinic.csv -o done.csv
  the same, quicker, and keep the model
    simpdm impute clinic.csv -o done.csv --preset fast --save-model clinic.simpdm
  fill new rows without training
    simpdm impute new.parquet -o done.parquet --model clinic.simpdm
  say what each column would be treated as, and why
    simpdm plan clinic.csv

Formats go by extension: .csv, .parquet, .feather or .arrow, .jsonl; out may
differ from in. Files are filled in batches, so they may be larger than memory.
Nothing is overwritten without --force.

exit codes: 0 done; 1 something is wrong with the data or a file, 2 with the
command; 130 interrupted.

"simpdm COMMAND --help" lists the options of a command.
"""
_FIT = (
    "categorical",
    "ordinal",
    "ignore",
    "columns",
    "seed",
    "preset",
    "time_budget",
    "steps",
    "gpu",
    "max_rows",
)
_MOST_PATTERNS = 40
_CLOSED_PIPE = 141  # as shells say it
# How Python's options are called here, in messages that speak of them; columns stand in quotes, files have more to their names.
_CALLED = (
    (r"(?<!['\w/.-])random_state(?!['\w/-]|\.\w)", "--seed"),
    (r"(?<!['\w/.-])(missing|time|max)_(values|budget|rows)(?!['\w/-]|\.\w)", r"--\1-\2"),
    (r"\b(categorical|ordinal|ignore|columns)(?= names\b| does not name\b)", r"--\1"),
    (r"(?<=\bin )(categorical|ordinal|columns)\b", r"--\1"),
    (r"\bordinal=\{'(.*?)': \[lowest, …, highest\]\}", r"--ordinal \1=lowest:…:highest"),
)


class UsageError(ValueError):
    """The command makes no sense, whatever the files hold."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the result is the exit code."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default", UserWarning)
            warnings.showwarning = _say
            with files.told(getattr(options, "input", None)):
                options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output, such as head, has seen enough; what is still to be written goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _CLOSED_PIPE
    except KeyboardInterrupt:
        print("simpdm: interrupted; no file was left half-written", file=sys.stderr)
        return 130
    except (ValueError, TypeError, RuntimeError, OSError, ImportError) as error:
        print(f"simpdm: {_in_shell(str(error))}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    return 0


def script() -> None:
    """Run a command and leave with its exit code."""
    sys.exit(main())


class _Parser(argparse.ArgumentParser):
    """A parser that asks what was meant."""

    options: Sequence[str] = ()

    def error(self, message: str) -> NoReturn:
        """Leave with a message, and with the word that was probably meant."""
        choice = re.search(r"invalid choice: '(.*)' \(choose from (.*)\)", message)
        option = re.search(r"unrecognized arguments: (--[^\s=]+)", message)
        near: list[str] = []
        if choice:
            near = difflib.get_close_matches(choice[1], re.findall(r"[a-z]+", choice[2]), n=1)
        elif option:
            near = difflib.get_close_matches(option[1], self.options, n=1)
        super().error(message + (f"; did you mean {near[0]!r}?" if near else ""))


def make_parser() -> argparse.ArgumentParser:
    """Make the parser of all commands."""
    parser = _Parser(
        prog="simpdm",
        description="Fill the missing values of tables with SimpDM; every dtype stays as it was.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"simpdm_frames {simpdm_frames.__version__}")
    commands = parser.add_subparsers(title="commands", dest="command", required=True, metavar="COMMAND")

    one = _command(commands, "impute", _impute, "fill the holes of a file")
    one.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the completed table")
    one.add_argument(
        "--model", type=Path, metavar="FILE", help="fill with a saved model instead of a new fit"
    )
    one.add_argument("--save-model", type=Path, metavar="FILE", help="keep the model for later")
    _fit_options(one)
    one.add_argument(
        "--estimate",
        choices=("mean", "mode", "draw"),
        help="what a hole is filled with: the expectation, the most probable value, or a draw",
    )
    one.add_argument("--force", action="store_true", help="overwrite files that are there")

    one = _command(commands, "fit", _fit, "fit a model to a file and save it")
    one.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the model, *.simpdm")
    _fit_options(one)
    one.add_argument("--force", action="store_true", help="overwrite a model that is there")

    one = _command(commands, "plan", _plan, "say what each column would be treated as, and why")
    _fit_options(one)
    one = _command(commands, "missing", _missing, "count the holes of a file")
    one.add_argument("--by", choices=("column", "pattern"), default="column", help="count by what")
    what = "make a table with holes, fill it, compare with the truth"
    one = commands.add_parser("demo", help=what, description=f"{what.capitalize()}.")
    one.set_defaults(run=_demo)
    one.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="only save the table with holes, as .csv or .parquet",
    )
    one.add_argument("--force", action="store_true", help="overwrite a file that is there")
    parser.options = sorted(
        {text for one in commands.choices.values() for text in one._option_string_actions}  # noqa: SLF001  # no public way
    )
    return parser


def _command(commands: Any, name: str, run: Any, what: str) -> argparse.ArgumentParser:
    one: argparse.ArgumentParser = commands.add_parser(name, help=what, description=f"{what.capitalize()}.")
    one.set_defaults(run=run)
    one.add_argument("input", type=Path, metavar="FILE", help="a table: .csv, .parquet, .feather, .jsonl")
    one.add_argument(
        "--missing-values",
        type=_names,
        default=[],
        metavar="A,B",
        help="texts that stand for a hole in a CSV file, beside empty fields",
    )
    return one


def _fit_options(one: argparse.ArgumentParser) -> None:
    group = one.add_argument_group("fit")
    for name, what in (
        ("categorical", "columns whose values are labels, whatever they look like"),
        ("ordinal", "columns whose values are ordered steps; of labels with their order: size=S:M:L"),
        ("ignore", "columns that are neither filled nor looked at"),
        ("columns", "the only columns to be filled"),
    ):
        group.add_argument(
            f"--{name}", type=_orders if name == "ordinal" else _names, metavar="A,B", help=what
        )
    group.add_argument("--seed", type=_whole(0), metavar="N", help="make fit and fills repeatable")
    group.add_argument("--preset", choices=("fast", "default", "best", "paper"), help="accuracy against time")
    group.add_argument("--time-budget", type=_seconds, metavar="S", help="seconds that the fit may take")
    group.add_argument("--steps", type=_whole(1), metavar="N", help="training steps, instead of the preset's")
    group.add_argument(
        "--max-rows", type=_whole(2), metavar="N", help="fit to a sample of at most so many rows"
    )
    group.add_argument("--gpu", action="store_const", const=True, help="use a GPU, warn if there is none")


def _whole(low: int) -> Callable[[str], int]:
    """Read a whole number that is not below another one."""

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < low:
            raise argparse.ArgumentTypeError(f"must be a whole number of at least {low}, got {text!r}")
        return int(text)

    return read


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise argparse.ArgumentTypeError(f"must be a number of seconds above 0, got {text!r}")
    return seconds


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _orders(text: str) -> dict[str, list[str] | None]:
    """Read ``grade,size=S:M:L``: some columns bring an order, others are given one."""
    parts = (part.partition("=") for part in _names(text))
    return {name: order.split(":") if order else None for name, _, order in parts}


def _given(options: argparse.Namespace) -> dict[str, Any]:
    """Collect the options of the fit that were given."""
    given = {name: getattr(options, name) for name in _FIT if getattr(options, name) is not None}
    if "seed" in given:
        given["random_state"] = given.pop("seed")
    return given


def _impute(options: argparse.Namespace) -> None:
    given = _given(options)
    if options.model and given.keys() - {"gpu", "random_state"}:
        late = ", ".join(f"--{name.replace('_', '-')}" for name in given.keys() - {"gpu", "random_state"})
        raise UsageError(f"{late}: the model is fitted already; leave it out, or leave out --model")
    files.check(options.output)
    for path in (options.output, options.save_model):
        _refuse_overwriting(path, options)
    if options.model and not options.model.exists():
        raise FileNotFoundError(f"{options.model} is not there")
    query = files.scan(options.input, options.missing_values)
    if options.model:
        model = simpdm_frames.load(options.model, gpu=given.get("gpu", "auto"))
    else:
        remembered: dict[str, Any] = {} if options.save_model else {"neighbours": "auto"}
        with _hinting():
            model = simpdm_frames.fit(query, **remembered, **given)
    if options.save_model:
        model.save(options.save_model)
    late_options = {"estimate": options.estimate, "random_state": options.seed}
    wish = {name: value for name, value in late_options.items() if value is not None}
    files.sink(model.impute(query, **wish), options.output, options.input, options.missing_values)


def _fit(options: argparse.Namespace) -> None:
    _refuse_overwriting(options.output, options)
    query = files.scan(options.input, options.missing_values)
    with _hinting():
        model = simpdm_frames.fit(query, **_given(options))
    model.save(options.output)


def _plan(options: argparse.Namespace) -> None:
    query = files.scan(options.input, options.missing_values)
    _show(simpdm_frames.plan(query, **_given(options)))


def _missing(options: argparse.Namespace) -> None:
    report = simpdm_frames.missing(files.scan(options.input, options.missing_values), by=options.by)
    _show(report, _MOST_PATTERNS if options.by == "pattern" else None)


def _demo(options: argparse.Namespace) -> None:
    from simpdm_frames import demo  # noqa: PLC0415  # it needs pandas

    if options.output is None:
        print(demo.report())
        return
    _refuse_overwriting(options.output, options)
    demo.save(options.output)


def _show(frame: Any, most: int | None = None) -> None:
    """Print a frame as plain columns; of its rows so many, or all."""
    cells = [[str(name) for name in frame.columns]]
    rows = frame.rows()[:most]
    cells += [[_shown(name, cell) for name, cell in zip(frame.columns, row, strict=True)] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    if len(rows) < len(frame):
        print(f"… and {len(frame) - len(rows):,} more")


def _shown(name: str, cell: Any) -> str:
    if isinstance(cell, float):
        return f"{cell:.3f}"
    return _in_shell(cell) if name in {"why", "hint"} else str(cell)


def _refuse_overwriting(path: Path | None, options: argparse.Namespace) -> None:
    """Refuse what could not be written, before any work begins."""
    if path is None:
        return
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the folder of {path} is not there; make it first")
    if path.exists() and not options.force:
        raise FileExistsError(f"{path} is there already; pass --force to overwrite it")


def _say(message: Warning | str, *_rest: Any, **_more: Any) -> None:
    print(f"simpdm: warning: {_in_shell(str(message))}", file=sys.stderr)


def _in_shell(text: str) -> str:
    """Call options as they are called here."""
    for pattern, name in _CALLED:
        text = re.sub(pattern, name, text)
    return text


@contextmanager
def _hinting() -> Iterator[None]:
    """Show what a fit has to say about values that may not be what they look like."""
    hints, handler = logging.getLogger("simpdm_frames.hints"), _Hints()
    level = hints.level
    hints.addHandler(handler)
    hints.setLevel(logging.INFO)
    try:
        yield
    finally:
        hints.removeHandler(handler)
        hints.setLevel(level)


class _Hints(logging.Handler):
    """Say a hint on the error stream."""

    def emit(self, record: logging.LogRecord) -> None:
        print(f"simpdm: hint: {_in_shell(record.getMessage())}", file=sys.stderr)
