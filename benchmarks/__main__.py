"""``python -m benchmarks STUDY``: measure, append to ``results/STUDY.csv``, render ``results/STUDY.md``."""

from __future__ import annotations

import argparse

import torch

from benchmarks import (
    ablations,
    bound,
    budget,
    casestudy,
    contract,
    frames,
    lazy,
    missing,
    mixed,
    overhead,
    paper,
    scaling,
    speed,
    table1,
)
from benchmarks.datasets import NAMES
from benchmarks.rows import RESULTS

STUDIES = {
    "table1": table1,
    "ablations": ablations,
    "missing": missing,
    "mixed": mixed,
    "casestudy": casestudy,
    "speed": speed,
    "scaling": scaling,
    "budget": budget,
    "bound": bound,
    "paper": paper,
    "contract": contract,
    "overhead": overhead,
    "frames": frames,
    "lazy": lazy,
}


def seeds(text: str) -> list[int]:
    """Read ``0-4,7`` as the seeds 0 to 4 and 7."""
    chosen: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        chosen += range(int(first), int(last or first) + 1)
    return chosen


def sizes(text: str) -> list[tuple[int, int]]:
    """Read ``1000x8,2000x8`` as tables of so many rows and columns."""
    return [
        (int(rows), int(columns)) for rows, _, columns in (part.partition("x") for part in text.split(","))
    ]


def names(text: str) -> list[str]:
    return text.split(",")


def _help(study: str) -> str:
    """Take a study's own words; argparse would read a percent sign as a place to put something."""
    return str(STUDIES[study].__doc__).replace("%", "%%")


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    studies = parser.add_subparsers(dest="study", required=True)

    def study(name: str, datasets: str) -> argparse.ArgumentParser:
        added = studies.add_parser(name, help=_help(name))
        added.add_argument("--datasets", type=names, default=names(datasets))
        return added

    def compared(name: str, datasets: str, seed_text: str, methods: str) -> argparse.ArgumentParser:
        added = study(name, datasets)
        added.add_argument("--seeds", type=seeds, default=seeds(seed_text))
        added.add_argument("--methods", type=names, default=names(methods))
        return added

    compared("table1", ",".join(NAMES), "1-5", "default,fast,mean,knn,mice,missforest")
    compared("missing", "yeast,abalone,wine_white,power", "1-2", "default,fast,knn,mice,missforest")
    compared("mixed", "german,diabetes,ecommerce,abalone,housing", "1-3", "default,mode,knn,missforest")
    one = compared("speed", "yacht,yeast", "1", "default,paper")
    one.add_argument("--steps", type=int, default=100, help="of the profiled fit")

    one = study("ablations", "yacht,diabetes,energy,yeast,wine_red,abalone,wine_white,power")
    one.add_argument("--seeds", type=seeds, default=seeds("1-2"))
    one.add_argument("--studies", type=names, default=list(ablations.VARIANTS))

    one = study("casestudy", "yeast,concrete")
    one.add_argument("--seeds", type=seeds, default=seeds("1"))

    one = studies.add_parser("scaling", help=_help("scaling"))
    one.add_argument(
        "--sizes", type=sizes, default=sizes("10000x20,100000x20,1000000x20,100000x8,100000x32,100000x128")
    )
    one.add_argument("--preset", dest="preset_name", default="default")
    one.add_argument("--rounds", type=int, default=3)

    one = study("budget", "concrete,power,california")
    one.add_argument(
        "--budgets", type=lambda text: [float(part) for part in names(text)], default=[5.0, 15.0]
    )
    one.add_argument("--rounds", type=int, default=3)

    one = study("bound", "blood")
    one.add_argument("--seeds", type=seeds, default=seeds("1-5"))

    one = study("paper", "yacht,yeast")
    one.add_argument("--seeds", type=seeds, default=seeds("0-5"))
    one.add_argument("--steps", type=int, help="fewer than the published number")

    one = studies.add_parser("contract", help=_help("contract"))
    one.add_argument(
        "--methods", type=names, default=names("simpdm_frames,SimpleImputer,KNNImputer,IterativeImputer")
    )

    one = study("overhead", "yacht,yeast,german")
    one.add_argument("--rounds", type=int, default=7)
    one.add_argument("--steps", type=int, default=100)
    one.add_argument("--batch-size", type=int, default=4096)

    one = studies.add_parser("frames", help=_help("frames"))
    one.add_argument("--libraries", type=names, default=names("pandas,polars,pyarrow"))
    one.add_argument("--rows", type=int, default=1_000_000)
    one.add_argument("--rounds", type=int, default=5)

    one = studies.add_parser("lazy", help=_help("lazy"))
    one.add_argument("--rows", type=int, default=3_000_000)
    one.add_argument("--preset", dest="preset_name", default="fast")
    one.add_argument("--ways", type=names, default=list(lazy.WAYS))
    return parser


def main() -> None:
    options = vars(make_parser().parse_args())
    torch.set_num_threads(options.pop("threads"))
    name = options.pop("study")
    STUDIES[name].run(**options)
    render(name)


def render(name: str) -> None:
    """Write the table of a study, and what it was measured with."""
    text = f"{STUDIES[name].render()}\n{STUDIES[name].ROWS.source()}"
    (RESULTS / f"{name}.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
