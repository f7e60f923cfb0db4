"""Build what is deployed.

python -m botforge_dev.build [--arch arm64|x86_64] [--output DIR]   everything, through `sam build`
python -m botforge_dev.build artifact LOGICAL_ID DIR                one artefact; make calls this
"""

import argparse
import sys
from pathlib import Path

from botforge_dev.build import artifacts, toolchain
from botforge_dev.build.layout import ROOT, Architecture


def main(arguments: list[str]) -> int:
    """Returns the exit status: 0 if everything was built."""
    try:
        if arguments[:1] == ["artifact"]:
            _, logical_id, target = arguments
            artifacts.build(logical_id, Path(target), Architecture.from_environment())
        else:
            _build_all(_parse(arguments))
    except toolchain.BuildFailed as error:
        print(f"build: {error}", file=sys.stderr)
        return 1
    return 0


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./scripts/build", description="Build every function and layer, without Docker."
    )
    parser.add_argument(
        "--arch", type=Architecture, choices=list(Architecture), default=Architecture.from_environment()
    )
    parser.add_argument("--output", type=_absolute, default=ROOT / ".aws-sam" / "build", help="default: %(default)s")
    return parser.parse_args(arguments)


def _build_all(options: argparse.Namespace) -> None:
    from botforge_dev.build import sizes  # reads YAML, which a single artefact does not need

    toolchain.require_make()
    environment = toolchain.sam_environment(BOTFORGE_ARCHITECTURE=options.arch.value, BOTFORGE_PYTHON=sys.executable)
    toolchain.run(
        (toolchain.sam(), "build", "--build-dir", str(options.output)),
        ("--parameter-overrides", f"Architecture={options.arch.value}"),
        env=environment,
    )
    print(f"\n{options.arch.value}, unzipped:\n{sizes.table(sizes.measure(options.output))}")
    if options.output == ROOT / ".aws-sam" / "build":
        print(f"\nNext: sam deploy --guided --parameter-overrides Architecture={options.arch.value}")


def _absolute(path: str) -> Path:
    return Path(path).absolute()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
