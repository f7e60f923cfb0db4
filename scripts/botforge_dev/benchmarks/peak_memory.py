"""Copied beside each contestant's programs: standard library only."""

import resource
import sys
from pathlib import Path


def peak_mb() -> float:
    """The most memory that this program held. On Linux ``ru_maxrss`` would count that of its starter as well."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) / 1024
    unit = 1024 * 1024 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
