"""Pages as people follow them: their commands, and the files that these write."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
FEDERATIONS = sorted((ROOT / "docs" / "federation").glob("*.md"))
SHELL = re.compile(r"^ *```sh\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^cat > (\S+) <<('?)END\2\n(.*?)^END$", re.MULTILINE | re.DOTALL)
# An address, as a page lets its reader choose it.
VARIABLE = re.compile(r"\b([A-Z][A-Z0-9_]*)=\$\{\1:-([^}]*)\}")


@dataclass(frozen=True)
class Page:
    """A page's blocks of commands, one after the other."""

    path: Path

    def script(self) -> str:
        return "".join(SHELL.findall(self.path.read_text()))

    def variables(self) -> dict[str, str]:
        """What the reader may choose, and what it is otherwise."""
        return dict(VARIABLE.findall(self.script()))

    def files(self) -> dict[str, str]:
        """The files that are written word by word, with the page's own values in them."""
        return {
            path: text if quoted else self.filled(text)
            for path, quoted, text in FILE.findall(self.script())
        }

    def filled(self, text: str) -> str:
        """A text with the page's own values in the places of its variables."""
        for name, value in self.variables().items():
            text = re.sub(rf"\${name}\b", value, text)
        return text
