"""``python -m benchmarks STUDY``: measure, append to ``results/STUDY.csv``, render its table."""

from __future__ import annotations

import argparse
import sys

import torch

from benchmarks import paper


def seeds(text: str) -> list[int]:
    """Read ``0-4,7`` as the seeds 0 to 4 and 7."""
    chosen: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        chosen += range(int(first), int(last or first) + 1)
    return chosen


def names(text: str) -> list[str]:
    return text.split(",")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    studies = parser.add_subparsers(dest="study", required=True)

    study = studies.add_parser("paper", help=paper.__doc__)
    study.add_argument("--datasets", type=names, default=["yacht", "yeast"])
    study.add_argument("--seeds", type=seeds, default=seeds("0-5"))
    study.add_argument("--scaling", default="range")
    study.add_argument("--steps", type=int)

    options = vars(parser.parse_args())
    torch.set_num_threads(options.pop("threads"))
    module = {"paper": paper}[options.pop("study")]
    module.run(**options)
    table = module.render()
    command = f"python -m benchmarks {' '.join(sys.argv[1:])}"
    print(table, command, sep="\n")


if __name__ == "__main__":
    main()
