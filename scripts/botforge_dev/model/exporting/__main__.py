"""``./scripts/export_model``: make the ONNX graph from the original model, verify it, and put it in the layer.

With ``--model NAME --to FOLDER`` another model is exported (a sentence-transformers one of BERT's architecture with
mean pooling, by its name on the model hub or its folder), verified against its original, and put into FOLDER: for
``EMBEDDING_MODEL_DIR``.

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
    parser.add_argument("--model", help="another model: its folder, or its name on the model hub")
    parser.add_argument("--to", type=Path, help="the folder for another model's files")
    options = parser.parse_args(arguments)
    if (options.model is None) is not (options.to is None):
        parser.error("--model and --to belong together")
    if options.check and options.model is not None:
        parser.error("--check compares with the model that is committed")
    try:
        place = environment.ensure()
    except toolchain.BuildFailed as error:
        print(f"export_model: {error}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        made, work = Path(folder) / "model", Path(folder) / "work"
        exporting = "botforge_dev.model.exporting"
        named: str | None = options.model
        try:
            original = place.original if named is None else environment.original_of(place, named, Path(folder))
        except toolchain.BuildFailed as error:
            print(f"export_model: {error}", file=sys.stderr)
            return 1
        status = environment.run(
            place, f"{exporting}.export", str(original), str(made), str(work), *filter(None, [named])
        )
        if status == 0:
            further = [] if options.check or named is not None else ["--reference"]
            status = environment.run(place, f"{exporting}.verify", str(made), str(original), *further)
        if status == 0 and not options.check:
            target: Path = options.to or MODEL_DIR
            target.mkdir(parents=True, exist_ok=True)
            for file in made.iterdir():
                shutil.copyfile(file, target / file.name)
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
