"""Checks of this machine: Python, packages, settings, files, disk, and the owner of a data directory."""

import os
import re
import shutil
import stat
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path

from streams.config import Settings
from streams.edges.cli.doctor.findings import DOWN, OK, SKIPPED, WARN, WRONG, Finding, found, some
from streams.runtime import data_dir as homes
from streams.runtime import preflight

OLDEST_PYTHON = (3, 11)
DISTRIBUTION = "fathom-context"
LOW_BYTES = 1_000_000_000
PIN = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^;\s]+)\s*(?:;(.*))?")


def machine(settings: Settings) -> list[Finding]:
    """All findings that need nothing but this machine."""
    return [
        python_version(sys.version_info[:3]),
        packages(pins(metadata.requires(DISTRIBUTION) or ()), installed()),
        settings_files([str(each) for each in preflight.faults(settings)]),
        secrets(modes_of(settings)),
        *_directory(settings),
    ]


def python_version(version: tuple[int, ...]) -> Finding:
    said = ".".join(map(str, version))
    return found("python", OK if version >= OLDEST_PYTHON else WRONG, said)


def pins(requirements: Iterable[str]) -> dict[str, str]:
    """The exactly pinned packages of a distribution, without those of extras."""
    matched = (PIN.fullmatch(each.replace(" ", "")) for each in requirements)
    return {each[1].lower(): each[2] for each in matched if each and "extra" not in (each[3] or "")}


def installed() -> dict[str, str]:
    return {each.metadata["Name"].lower(): each.version for each in metadata.distributions()}


def packages(wanted: Mapping[str, str], there: Mapping[str, str]) -> Finding:
    """Whether the pinned versions are installed."""
    odd = [
        f"{name} {there.get(name, 'missing')}, pinned {pin}"
        for name, pin in wanted.items()
        if name in there and there[name] != pin
    ]
    return found("packages", WARN if odd else OK, some(odd) if odd else f"{len(wanted)} pinned, all as pinned")


def settings_files(faults: list[str]) -> Finding:
    """Settings by the faults that a worker would refuse to start with."""
    return found("settings", WRONG if faults else OK, some(faults, 2) if faults else "all can be used")


def modes_of(settings: Settings) -> dict[str, int]:
    """The permission bits of each file with a secret."""
    paths = [getattr(settings, name) for name in type(settings).model_fields if name.endswith("_file")]
    public = {settings.kafka_ca_file, settings.kafka_cert_file}
    return {
        str(path): path.stat().st_mode
        for path in paths
        if isinstance(path, Path) and path.exists() and path not in public
    }


def secrets(modes: Mapping[str, int]) -> Finding:
    """Whether others than the owner may read files with secrets."""
    if not modes:
        return found("secrets", SKIPPED, "no file with a secret is set")
    open_to_all = [path for path, mode in modes.items() if mode & (stat.S_IROTH | stat.S_IWOTH)]
    if open_to_all:
        return found("secrets", WARN, some(open_to_all), fix=f"chmod 600 {' '.join(open_to_all)}")
    return found("secrets", OK, f"{len(modes)} files, for their owner")


def _directory(settings: Settings) -> list[Finding]:
    home = homes.home_of(settings.broker)
    if home is None:
        rest = [found(name, SKIPPED, "the broker is a server") for name in ("data-directory", "disk", "owner")]
        return [*rest, damaged(homes.damaged(settings), homes.unfilled(settings))]
    if not home.is_dir():
        return [found("data-directory", WRONG, f"there is no directory {home}", fix=f"fathom up --data {home}")]
    there = home.stat()
    return [
        directory(home, there.st_mode, there.st_uid, os.geteuid()),
        disk(home, shutil.disk_usage(home).free),
        owner(home, published=(home / homes.ADDRESSES).exists(), alive=homes.running(home) is not None),
        damaged(homes.damaged(settings), homes.unfilled(settings)),
    ]


def directory(home: Path, mode: int, uid: int, ours: int) -> Finding:
    """Whether the data directory is ours, writable, and closed to others."""
    fix = f"chown -R $(id -u) {home} && chmod 700 {home}"
    if uid != ours and ours != 0:
        return found("data-directory", WRONG, f"{home} belongs to the user with id {uid}", fix=fix)
    if not mode & stat.S_IWUSR:
        return found("data-directory", WRONG, f"{home} cannot be written", fix=fix)
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        return found("data-directory", WARN, f"{home} is open to others ({stat.filemode(mode)})", fix=fix)
    return found("data-directory", OK, f"{home}, {stat.filemode(mode)}")


def disk(home: Path, free: int) -> Finding:
    """Whether there is room left for log and stores."""
    state = WRONG if free < homes.FULL_BYTES else WARN if free < LOW_BYTES else OK
    return found("disk", state, f"{free / 1e9:,.1f} GB free at {home}", fix=f"df -h {home}; free some of it")


def damaged(files: Sequence[str], unfilled: Sequence[str] = ()) -> Finding:
    """Whether something of log or stores was set aside, because it was not as it had been written, or was lost."""
    lost = [f"lost, or not filled from the log yet: {some(unfilled)}"] if unfilled else []
    if files:
        seen = "; ".join((f"set aside: {some(files)}", *lost))
        return found("damaged", WARN, seen, fix=f"look at it, then rm -r {files[0]}")
    if lost:
        return found("damaged", WARN, lost[0], fix="fathom up, which fills it, or put it back in its place before")
    return found("damaged", OK, "nothing was set aside")


def owner(home: Path, *, published: bool, alive: bool) -> Finding:
    """Whether the process that owns the embedded stores is alive."""
    if alive:
        return found("owner", OK, f"`fathom up` runs in {home}")
    if published:
        seen = f"`fathom up` of {home} ended without an orderly end"
        return found("owner", DOWN, seen, fix=f"fathom up --data {home}")
    return found("owner", SKIPPED, f"nothing runs in {home}")
