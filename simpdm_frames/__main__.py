"""``python -m simpdm_frames demo``."""

from __future__ import annotations

import argparse

__all__ = ["main"]


def main() -> None:
    """Run a command by name."""
    parser = argparse.ArgumentParser(
        prog="python -m simpdm_frames", description="Fill the missing values of data frames with SimpDM."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("demo", help="make a table with holes, fill it, and compare with the truth")
    parser.parse_args()
    from simpdm_frames import demo  # noqa: PLC0415  # --help should not wait for pandas

    print(demo.report())


if __name__ == "__main__":
    main()
