"""A package as an installer leaves it behind: its files, and the metadata with its entry points."""

import shutil
import tomllib
from pathlib import Path

PACKAGE = Path(__file__).with_name("package")


def install(target: Path, package: Path = PACKAGE) -> Path:
    """Put a package into a folder that is to be on Python's path; nothing else is changed."""
    project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    name, version = project["name"], project["version"]
    module = name.replace("-", "_")
    shutil.copytree(package / module, target / module)
    about = target / f"{module}-{version}.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (about / "top_level.txt").write_text(f"{module}\n")
    lines = []
    for group, entries in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{key} = {value}" for key, value in entries.items()), ""]
    (about / "entry_points.txt").write_text("\n".join(lines))
    return target
