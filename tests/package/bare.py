"""A bare Debian in a folder, in which the packages are installed."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from pathlib import Path


class Bare:
    """The system below a folder. Its programs see no file outside, and no process."""

    def __init__(self, folder: Path, archive: Path) -> None:
        """Unpacks the system."""
        self.folder = folder
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="fully_trusted")
        (folder / "data").mkdir()

    def run(self, command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Runs a command of the shell in `/data`, with no more of an environment than is given."""
        inside = ["unshare", "--mount", "--pid", "--fork", f"--mount-proc={self.folder}/proc"]
        inside += ["chroot", self.folder, "env", "-i", "HOME=/data", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"]
        inside += [f"{name}={value}" for name, value in environment.items()]
        words = [*inside, "sh", "-c", f"cd /data && {command}"]
        return subprocess.run(words, capture_output=True, text=True, timeout=300)

    def check(self, command: str, **environment: str) -> str:
        """What a command prints, which must succeed."""
        done = self.run(command, **environment)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    def put(self, file: Path, place: str) -> None:
        """Copies a file into an absolute folder inside."""
        target = self.folder / place.lstrip("/")
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)
