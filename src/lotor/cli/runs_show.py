"""`lotor runs list` and `lotor runs show` for people, on a terminal of 80 columns."""

import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import msgspec
from rich.console import Console

from lotor.cli.show import show_account, show_measured
from lotor.core.durations import in_words
from lotor.core.revealed import Revealed
from lotor.core.wording import counted
from lotor.crypto.certificates import fingerprint_lines
from lotor.runtime.daemon.local.run_document import (
    ORDERED,
    SHORT_ID,
    STOP_ORDERED,
    RunDocument,
    unserved,
)
from lotor.runtime.daemon.pending import shown_party
from lotor.runtime.daemon.status import BLOCKED, IN_DOUBT, MISSING, PAUSED
from lotor.runtime.daemon.told_state import moment
from lotor.runtime.durable.journal import ENDED, FINISHED, RUNNING, WAITING

# With ids of that length these fit 80 columns.
_COLUMNS = {"run": 32, "state": 8, "seat": 13, "policy": 16, "round": 15, "changed": 10}
_SHOWN_APART = {
    *("run", "state", "since", "missing", "waiting", "held_up", "served", "note", "round"),
    *("budget", "created", "changed", "members", "others", "privacy", "leakage"),
    *("stop_ordered", "paused_since", "open_decisions", "reveals", "revealed", "rounds_before"),
    *("keeps", "kept"),
    *("without", "exclude_after", "excluded", "lost"),
}


def print_list(out: Console, documents: Sequence[RunDocument]) -> None:
    """One line for each run, and below it what holds the run up or why it ended."""
    if not documents:
        out.print("no runs yet")
        return
    ids = _short_ids([document["run"] for document in documents])
    rows = [_cells(document, short) for document, short in zip(documents, ids, strict=True)]
    heads = dict(zip(_COLUMNS, ("run", "state", "seat", "policy", "round", "changed"), strict=True))
    widths = {
        column: min(most, max(len(row[column]) for row in [heads, *rows]))
        for column, most in _COLUMNS.items()
    }
    # Two runs that begin alike need longer ids, which is rare.
    widths["policy"] = max(widths["policy"] - (len(ids[0]) - SHORT_ID), len("policy"))
    out.print(_line(heads, widths), style="bold", markup=False, soft_wrap=True)
    for document, row in zip(documents, rows, strict=True):
        out.print(_line(row, widths), markup=False, soft_wrap=True)
        for sentence in document["held_up"] or [document["note"]]:
            _wrapped(out, sentence, "  ")


def _short_ids(runs: Sequence[str]) -> list[str]:
    """As much of each id as tells them apart."""
    length = SHORT_ID
    while len({run[:length] for run in runs}) < len(set(runs)):
        length += 4
    return [run[:length] for run in runs]


def _cells(document: RunDocument, short: str) -> dict[str, str]:
    return {
        "run": short,
        "state": _state(document),
        "seat": document["seat"],
        "policy": document.get("policy", ""),
        "round": _rounds(document, "/"),
        "changed": _age(document["changed"]),
    }


def _state(document: RunDocument) -> str:
    """The state for people: what its own journal has as running may be held up somewhere."""
    others = document.get("others", {})
    if document["state"] != RUNNING:
        return str(document["state"])
    own = others.get(document["seat"], {"state": RUNNING})["state"]
    if own != RUNNING:
        return str(own)
    if document["missing"] or document["waiting"]:
        return MISSING if document["missing"] else WAITING
    said = {status["state"] for status in others.values()}
    return next((held for held in (BLOCKED, IN_DOUBT, PAUSED) if held in said), RUNNING)


def _rounds(document: RunDocument, of: str) -> str:
    """How far the run is: some parties have no rounds of their own."""
    said = [status["round"] for status in document.get("others", {}).values()]
    done = max([document["round"], *said])
    if "budget" not in document:
        return str(done)
    # The last messages of a run may follow its last round.
    last = document["budget"] + document.get("rounds_before", 0)
    return f"{min(done, last)}{of}{last}"


def _line(cells: Mapping[str, str], widths: Mapping[str, int]) -> str:
    return "  ".join(_cut(cells[column], widths[column]) for column in _COLUMNS).rstrip()


def _cut(text: str, width: int) -> str:
    return text.ljust(width) if len(text) <= width else f"{text[: width - 1]}…"


def _age(when: str) -> str:
    """How long ago that was, for people."""
    if not when:
        return ""
    return f"{in_words(max(time.time() - datetime.fromisoformat(when).timestamp(), 0.0))} ago"


def _when(when: str) -> str:
    return f"{moment(datetime.fromisoformat(when).timestamp())} ({_age(when)})"


def _wrapped(out: Console, text: str, indent: str, first: str | None = None) -> None:
    """Text that may be longer than a line; a long word is left whole, so that it can be copied."""
    lines = textwrap.wrap(
        text,
        max(out.width, 40),
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    for line in lines:
        out.print(line, markup=False, soft_wrap=True)


def print_run(out: Console, document: RunDocument, kit: Path) -> None:
    """How a run stands and who holds it up, then what it is, then who takes part."""
    facts = [("run", document["run"]), ("state", _state(document)), *_pressing(document, kit)]
    if _state(document) != MISSING:  # which has been said
        facts.append(("note", document["note"]))
    facts.append(("round", _rounds(document, " of ")))
    for key, value in document.items():
        if key in ("created", "changed") and value:
            facts.append((key, _when(value)))
        elif key not in _SHOWN_APART:
            text = ", ".join(value) if isinstance(value, list) else value
            facts.append((key.replace("_", " "), text))
    facts += [*_told_besides(document), *_kept(document), *_losses(document)]
    _print_facts(out, [(key, str(value)) for key, value in facts if value not in ("", None)])
    for seat, about in document.get("members", {}).items():
        _print_member(out, seat, about, _word(document, seat))
    if "leakage" in document:
        out.print()
        show_measured(out, document["form"], document["leakage"])
    if "privacy" in document:
        show_account(out, document["privacy"])


def _told_besides(document: RunDocument) -> Iterator[tuple[str, str]]:
    """What whoever ordered the run learns beyond its result, and at that party, what it was."""
    if "reveals" in document:
        yield "reveals", "; ".join(document["reveals"].values())
    if "revealed" in document:
        revealed = msgspec.convert(document["revealed"], Revealed)
        yield revealed.title, revealed.finding


def _losses(document: RunDocument) -> Iterator[tuple[str, str]]:
    """Who has left for good, who may have to, and what was agreed about it."""
    if document.get("without"):
        yield "total", without_owners(document["without"])
    for one in document.get("lost", ()):
        yield "lost", one["note"]
    for one in document.get("excluded", ()):
        yield "excluded", f"{one['seat']}, which had been away since {_when(one['since'])}"
    if document["state"] in (RUNNING, WAITING) and "exclude_after" in document:
        rule = (
            f"an owner that is away for {document['exclude_after']} may be excluded, if all others "
            "agree: its arms leave, and what it has counted stays in the total. Before each round "
            "each owner leaves controller a share of its sum, from which nobody learns anything"
        )
        yield "lost owners", rule


def without_owners(left: Mapping[str, int]) -> str:
    """What a total says of owners that have left."""
    parts = [f"{seat}, which left before round {t}" for seat, t in left.items()]
    return f"counts what was escrowed by {', and by '.join(parts)}"


def _kept(document: RunDocument) -> Iterator[tuple[str, str]]:
    """What parties keep after a run, for one that continues it, and what this one has kept."""
    for role, what in document.get("keeps", {}).items():
        yield "keeps", f"{role}, after the run: {what}"
    if "kept" in document:
        kept = document["kept"]
        yield "kept", f"{counted(kept['bytes'], 'byte')}, sealed, since {_when(kept['since'])}"


def _pressing(document: RunDocument, kit: Path) -> Iterator[tuple[str, str]]:
    """What somebody should see to, and since when."""
    if document["state"] in (RUNNING, WAITING, ORDERED) and not document["served"]:
        yield "served", unserved(kit, document["run"])
    if document.get("stop_ordered"):
        yield "stop", STOP_ORDERED
    if document.get("open_decisions"):
        todo = f"`lotor decisions list {document['run'][:SHORT_ID]} --kit {kit}`"
        yield "outcomes", f"{counted(document['open_decisions'], 'decision')} without: {todo}"
    for one in document["missing"]:
        yield "missing", f"{_who(one)}, since {_when(one['since'])}"
    for one in document["waiting"]:
        if one["seat"] == document["seat"]:
            todo = f"for you: `lotor runs approve {document['run'][:SHORT_ID]} --kit {kit}`"
            yield "waiting", f"{todo}, since {_when(one['since'])}"
        else:
            yield "waiting", f"{_who(one)}, for its approval, since {_when(one['since'])}"
    yield from _held_by_others(document)


def _held_by_others(document: RunDocument) -> Iterator[tuple[str, str]]:
    """Whose operators should see to something."""
    others = document.get("others", {}) if document["state"] in (RUNNING, WAITING) else {}
    for seat, status in others.items():
        if seat == document["seat"]:
            continue
        who = shown_party(seat, document["members"][seat]["name"])
        if status["state"] == IN_DOUBT:
            yield "waiting", f"{who}, for its operator, since {_when(status['since'])}"
        elif status["state"] == PAUSED:
            yield "paused", f"by {who}, since {_when(status['since'])}"


def _who(party: RunDocument) -> str:
    return shown_party(party["seat"], party["name"])


def _print_facts(out: Console, facts: Sequence[tuple[str, str]]) -> None:
    width = max(len(key) for key, _ in facts) + 2
    for key, value in facts:
        _wrapped(out, value, " " * width, key.ljust(width))


def _word(document: RunDocument, seat: str) -> RunDocument | None:
    """What a party says of a run; of one that is finished here, only how it ended there."""
    status: RunDocument | None = document["others"].get(seat)
    over = document["state"] == FINISHED
    return None if status is None or (over and status["state"] == RUNNING) else status


def _print_member(out: Console, seat: str, about: RunDocument, status: RunDocument | None) -> None:
    """A party of the run: who it is, by which key, and what it says of the run."""
    out.print(f"\n{seat}", style="bold", markup=False, soft_wrap=True)
    facts = [("party", f"{about['role']} {about['name']}")]
    if status is not None:
        text = f": {status['text']}" if status["text"] else ""
        # A party that waits or has ended tells no round, and some have none.
        under_way = status["state"] not in (FINISHED, *ENDED) and status["round"]
        rounds = f", round {status['round']}" if under_way else ""
        facts += [("says", f"{status['state']}{text}{rounds}")]
        facts += [("heard", _when(status["time"]))]
    lines = fingerprint_lines(about["fingerprint"])
    facts += [("" if number else "key", line) for number, line in enumerate(lines)]
    _print_facts(out, [(f"  {key}", value) for key, value in facts])
