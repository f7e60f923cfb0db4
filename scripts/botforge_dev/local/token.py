"""``./scripts/token --user UUID``: a token of the local issuer for any user."""

import argparse
import sys
from pathlib import Path
from uuid import UUID

from botforge_dev.local.supervisor import ROOT
from botforge_dev.local.tokens import TokenIssuer


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="token", description=__doc__)
    parser.add_argument("--user", type=UUID, required=True)
    parser.add_argument("--data-dir", type=Path, default=ROOT / ".botforge")
    options = parser.parse_args(arguments)
    if not (options.data_dir / "issuer.pem").exists():
        print(
            f"token: nothing has been served from {options.data_dir} yet; run ./scripts/serve first.", file=sys.stderr
        )
        return 1
    print(TokenIssuer.in_folder(options.data_dir).mint(options.user))
    return 0


if __name__ == "__main__":
    sys.exit(main())
