"""The pages of reproduced figures: Markdown for each, and one HTML page that needs nothing else."""

import base64
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from lotor.core.errors import InputError
from lotor.core.frames import Cell
from lotor.core.version import VERSION
from lotor.core.wording import counted
from lotor.studies.reproduce import Reproduced

# Longer tables are in the CSV file alone.
SHOWN_ROWS = 250
_STYLE = """
:root { color-scheme: light dark; --ink: #1f2933; --paper: #fff; --line: #d0d5db; --link: #0b5cad }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e7eb; --paper: #16191d; --line: #3e4c59; --link: #7cb7ff } }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
a { color: var(--link) }
section { border-top: 1px solid var(--line); margin-top: 2.5rem }
img { max-width: 100%; background: #fff; border-radius: 4px; padding: 0.5rem;
  box-sizing: border-box }
details { overflow-x: auto }
table { border-collapse: collapse; font-size: 0.85rem }
th, td { border-bottom: 1px solid var(--line); padding: 0.15rem 0.6rem; text-align: left }
"""


def write_page(made: Reproduced) -> None:
    """Write a figure's page as Markdown, beside its picture."""
    _write(made.file("md"), markdown(made))


def write_report(folder: Path, made: Sequence[Reproduced]) -> Path:
    """Write index.html: all figures on one page, pictures included."""
    path = folder / "index.html"
    _write(path, html(made))
    return path


def markdown(made: Reproduced) -> str:
    """What the paper shows, what came out, what differs and why."""
    figure = made.figure
    parts = [f"## {_heading(made)}", f"![{figure.title}]({made.file('svg').name})"]
    parts += [f"**{name}.** {text}" for name, text in _texts(made).items()]
    parts.append("**What came out:**")
    parts.append("\n".join(f"- {sentence}" for sentence in made.found))
    if figure.published:
        parts += ["**Published numbers:**", _markdown_table(figure.published)]
    return "\n\n".join(parts) + "\n"


def html(made: Sequence[Reproduced]) -> str:
    """One page that works without a network."""
    contents = "".join(
        f'<li><a href="#{escape(one.figure.name)}">{escape(_heading(one))}</a></li>' for one in made
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Figures of the papers</title><style>{_STYLE}</style></head><body>"
        "<h1>Figures of the papers</h1>"
        f"<p>{counted(len(made), 'figure')}, made by <code>lotor reproduce</code>, Lotor "
        f"{escape(VERSION)}.</p><ul>{contents}</ul>"
        + "".join(_section(one) for one in made)
        + "</body></html>\n"
    )


def _section(made: Reproduced) -> str:
    figure = made.figure
    picture = base64.b64encode(made.file("svg").read_bytes()).decode()
    texts = "".join(
        f"<p><strong>{escape(name)}.</strong> {escape(text)}</p>"
        for name, text in _texts(made).items()
    )
    found = "".join(f"<li>{escape(sentence)}</li>" for sentence in made.found)
    published = ""
    if figure.published:
        published = f"<p><strong>Published numbers:</strong></p>{_html_table(figure.published)}"
    return (
        f'<section id="{escape(figure.name)}"><h2>{escape(_heading(made))}</h2>'
        f'<img alt="{escape(figure.title)}" src="data:image/svg+xml;base64,{picture}">{texts}'
        f"<p><strong>What came out:</strong></p><ul>{found}</ul>{published}{_data(made)}</section>"
    )


def _data(made: Reproduced) -> str:
    rows = max(map(len, made.table.values()), default=0)
    if rows > SHOWN_ROWS:
        return f"<p>The data, {counted(rows, 'row')}, are in {escape(made.file('csv').name)}.</p>"
    return f"<details><summary>The data</summary>{_html_table(made.table)}</details>"


def _heading(made: Reproduced) -> str:
    return f"{made.figure.name}: {made.figure.title}"


def _texts(made: Reproduced) -> dict[str, str]:
    """What is said before the results, without what a figure does not say."""
    size = "the quick size" if made.size == "quick" else "full size"
    # A setting may end in a full stop, or be empty.
    setting = f"{made.setting.rstrip('.')}. " if made.setting else ""
    texts = {
        "The paper": made.figure.paper,
        "Here": f"{setting}This is {size}, {counted(len(made.cells), 'measurement')} in all.",
        "What differs, and why": made.figure.differs,
    }
    return {name: text for name, text in texts.items() if text}


def _markdown_table(columns: Mapping[str, Sequence[Cell]]) -> str:
    rows = [list(columns), ["---"] * len(columns), *_texts_of(columns)]
    return "\n".join(f"| {' | '.join(one.replace('|', '/') for one in row)} |" for row in rows)


def _html_table(columns: Mapping[str, Sequence[Cell]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape(one)}</td>' for one in row)}</tr>"
        for row in _texts_of(columns)
    )
    return f"<table><tr>{head}</tr>{rows}</table>"


def _texts_of(columns: Mapping[str, Sequence[Cell]]) -> list[list[str]]:
    return [[_shown(value) for value in row] for row in zip(*columns.values(), strict=True)]


def _shown(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else value


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None
