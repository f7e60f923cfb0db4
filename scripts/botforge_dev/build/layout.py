"""Where things lie in a checkout, and for which machines artefacts are built."""

import os
from enum import StrEnum
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
RUNTIME = "3.13"  # the Python of every function, as `template.yaml` says (a test compares them)

# The Amazon Linux 2023 below the runtime has glibc 2.34 (AWS, "Lambda runtimes"), so these wheels fit.
_WHEEL_PLATFORMS = {"arm64": "aarch64-manylinux_2_28", "x86_64": "x86_64-manylinux_2_28"}

# Files get one date, so that the same inputs give the same archive: the earliest that a zip file can hold.
EPOCH_S = 315_532_800


class Architecture(StrEnum):
    """A processor architecture, spelt as Lambda spells it."""

    ARM64 = "arm64"
    X86_64 = "x86_64"

    @property
    def wheel_platform(self) -> str:
        """The platform as `uv pip install --python-platform` spells it."""
        return _WHEEL_PLATFORMS[self.value]

    @classmethod
    def from_environment(cls) -> "Architecture":
        """What BOTFORGE_ARCHITECTURE names: make has no other way to hear of it. arm64, the template's, if unset.

        Raises ValueError for any other architecture.
        """
        return cls(os.environ.get("BOTFORGE_ARCHITECTURE") or cls.ARM64)
