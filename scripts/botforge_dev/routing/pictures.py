"""``python -m botforge_dev.routing.pictures --data FOLDER --split NAME --to FILE.svg``: a row of pictures a source."""

import argparse
import sys
from pathlib import Path

from botforge_dev.evaluation.suites.routing import routed
from botforge_dev.routing.drawing import drawn


def main() -> None:
    parser = argparse.ArgumentParser(description="Pictures of the router's decisions.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--split", required=True)
    parser.add_argument("--to", type=Path, required=True)
    chosen = parser.parse_args()
    outcomes = routed(chosen.data, chosen.split, lambda line: print(f"  {line}", file=sys.stderr))
    chosen.to.parent.mkdir(parents=True, exist_ok=True)
    chosen.to.write_text(drawn(outcomes), encoding="utf-8")


if __name__ == "__main__":
    main()
