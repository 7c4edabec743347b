"""``python -m benchmarks STUDY``: measure, append to ``results/STUDY.csv``, render ``results/STUDY.md``."""

from __future__ import annotations

import argparse

import torch

from benchmarks import components, frames, lazy, mixed, overhead, paper
from benchmarks.rows import RESULTS

STUDIES = {
    "paper": paper,
    "components": components,
    "mixed": mixed,
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


def names(text: str) -> list[str]:
    return text.split(",")


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    studies = parser.add_subparsers(dest="study", required=True)

    def study(name: str, datasets: str) -> argparse.ArgumentParser:
        added = studies.add_parser(name, help=STUDIES[name].__doc__)
        added.add_argument("--datasets", type=names, default=names(datasets))
        return added

    one = study("paper", "yacht,yeast")
    one.add_argument("--seeds", type=seeds, default=seeds("0-5"))
    one.add_argument("--scaling", default="range", choices=["unit", "range", "deviation"])
    one.add_argument("--steps", type=int, help="fewer than the published number")

    one = study("components", "yacht,yeast,wine_red")
    one.add_argument("--seeds", type=seeds, default=seeds("1-3"))
    one.add_argument("--variants", type=names, default=list(components.VARIANTS))
    one.add_argument("--steps", type=int, default=2000)
    one.add_argument("--learning-rate", type=float, default=1e-3)

    one = study("mixed", "german")
    one.add_argument("--seeds", type=seeds, default=seeds("1-5"))
    one.add_argument("--preset", dest="preset_name", default="default")
    one.add_argument("--steps", type=int)

    one = study("overhead", "yacht,yeast,german")
    one.add_argument("--rounds", type=int, default=7)
    one.add_argument("--steps", type=int, default=100)
    one.add_argument("--batch-size", type=int, default=4096)

    one = studies.add_parser("frames", help=frames.__doc__)
    one.add_argument("--libraries", type=names, default=names("pandas,polars,pyarrow"))
    one.add_argument("--rows", type=int, default=1_000_000)
    one.add_argument("--rounds", type=int, default=5)

    one = studies.add_parser("lazy", help=lazy.__doc__)
    one.add_argument("--rows", type=int, default=3_000_000)
    one.add_argument("--preset", dest="preset_name", default="default")
    one.add_argument("--sampling-steps", type=int, default=10)
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
