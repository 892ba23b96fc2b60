"""Packages for tests: installed ones with entry points, and loose modules."""

import sys
from collections.abc import Mapping
from importlib import invalidate_caches
from pathlib import Path

import pytest


class Pet:
    """What such packages offer."""


def install(
    folder: Path,
    patch: pytest.MonkeyPatch,
    package: str,
    files: Mapping[str, str],
    offers: Mapping[str, Mapping[str, str]] | None = None,
    version: str = "1.0",
) -> Path:
    """Write a package as an installer does; `offers` are its entry points by group."""
    place = folder / f"{package}-site"
    code = place / package
    code.mkdir(parents=True)
    for name, text in {"__init__.py": "", **files}.items():
        (code / name).parent.mkdir(parents=True, exist_ok=True)
        (code / name).write_text(text)
    described = place / f"{package}-{version}.dist-info"
    described.mkdir()
    (described / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n"
    )
    (described / "top_level.txt").write_text(f"{package}\n")
    lines = []
    for group, named in (offers or {}).items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in named.items())]
    (described / "entry_points.txt").write_text("\n".join(lines) + "\n")
    make_importable(place, patch, package)
    return code


def make_importable(place: Path, patch: pytest.MonkeyPatch, package: str) -> None:
    """Put a folder on the path, and forget what an earlier test imported of `package`."""
    patch.syspath_prepend(place)
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[name]
    invalidate_caches()
