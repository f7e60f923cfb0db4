"""``./scripts/export_model``: make the ONNX graph from the original model, verify it, and put it in the layer.

With ``--check`` nothing is written: the export must give the committed bytes, 2,000 texts must agree with the
original, and the embedder's contract tests must pass with sentence-transformers.
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from botforge_dev.build import toolchain
from botforge_dev.model.exporting import environment
from botforge_dev.model.weights import MODEL_DIR

_CONTRACT = ("--noconftest", "-p", "no:cacheprovider", "-q", "-W", "ignore", "tests/contracts/test_embedder.py")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="export_model", description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with what is committed, and write nothing")
    options = parser.parse_args(arguments)
    try:
        place = environment.ensure()
    except toolchain.BuildFailed as error:
        print(f"export_model: {error}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        made, work = Path(folder) / "model", Path(folder) / "work"
        exporting = "botforge_dev.model.exporting"
        status = environment.run(place, f"{exporting}.export", str(place.original), str(made), str(work))
        if status == 0:
            further = [] if options.check else ["--reference"]
            status = environment.run(place, f"{exporting}.verify", str(made), str(place.original), *further)
        if status == 0 and not options.check:
            for file in made.iterdir():
                shutil.copyfile(file, MODEL_DIR / file.name)
        if status == 0 and options.check:
            status = _compare(made) or environment.run(place, "pytest", *_CONTRACT)
    print("export_model: " + ("done" if status == 0 else "failed"), file=sys.stderr)
    return status


def _compare(made: Path) -> int:
    """1 if a file came out different from the committed one. The weights are compared by the manifest's checksum."""
    different = [
        file.name
        for file in sorted(made.iterdir())
        if file.suffix != ".data" and file.read_bytes() != (MODEL_DIR / file.name).read_bytes()
    ]
    if different:
        print(f"export_model: not the committed bytes: {', '.join(different)}", file=sys.stderr)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
