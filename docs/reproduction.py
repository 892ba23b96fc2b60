"""Writes reproduction.md out of figures that were made: `python docs/reproduction.py FOLDER`.

FOLDER is where `lotor reproduce --all --out FOLDER` put them.
"""

import re
import shutil
import sys
from pathlib import Path

from lotor.studies.reproduce import figure_names

PAGE = Path(__file__).with_name("reproduction.md")
PICTURES = Path(__file__).parent / "pictures" / "reproduction"
INTRODUCTION = """\
# The papers' figures, made again

Every figure and table of the experiments of the four papers has a name. This makes one of them, in
a smaller size that takes at most a minute, and then all of them in the papers' size:

```sh
lotor reproduce samba-8c --quick
lotor reproduce --all --movielens ml-100k/u.data --jester jester.csv --mnist mnist/
```

Each has a picture (SVG and PNG), its data (CSV) and a page, and `reproduction/index.html` has all
of them. Look-alikes stand in for data that you do not have, and the page says so. Finished runs are
kept in `reproduction/cells`, so that the same command goes on after an interruption; once it has
finished, calling it again measures times anew. `lotor reproduce` alone lists the names.

What follows is what the command wrote; each says which data and which size it has. Times are of one
machine with two cores, so that only their proportions can be compared with the papers.
"""


def main() -> None:
    """Join the pages in the order of the command, and put their pictures where they belong."""
    folder = Path(sys.argv[1])
    PICTURES.mkdir(parents=True, exist_ok=True)
    parts = [INTRODUCTION]
    for name in figure_names():
        page = folder / f"{name}.md"
        if not page.exists():
            sys.exit(f"{page} is missing: run lotor reproduce {name} --out {folder}")
        shutil.copy(page.with_suffix(".svg"), PICTURES)
        parts.append(
            re.sub(r"\]\((\S+\.svg)\)", rf"](pictures/{PICTURES.name}/\1)", page.read_text())
        )
    PAGE.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
