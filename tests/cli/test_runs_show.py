"""What operators see of their runs: on a narrow terminal, and as JSON."""

import json
import re
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

import lotor
from commands import lotor as command
from lotor.cli.runs_show import print_list, print_run
from lotor.runtime.daemon import commands
from lotor.runtime.daemon.frames import Status
from lotor.runtime.daemon.local.run_document import RunDocument
from lotor.runtime.daemon.pending import held_up
from lotor.runtime.durable.journal import RunRow
from runtime.daemon.stage import BUDGET, EVERYONE, NOBODY, Stage, play
from runtime.daemon.test_who_waits import LIMIT, be_strict
from runtime.daemon.waiting import until

WIDTH = 80
LONG = "a-hospital-with-a-name-as-long-as-a-certificate-allows-it-to-be"
SENTENCE = "the ethics board has not met, and nobody knows when it will, since its chair is away"


def document(run: str, state: str, **more: object) -> RunDocument:
    moment = "2001-11-16T21:44:50+00:00"
    return {
        "run": run,
        "state": state,
        "since": moment,
        "missing": [],
        "waiting": [],
        "held_up": [],
        "served": True,
        "note": "",
        "round": 0,
        "seat": LONG,
        "created": moment,
        "changed": moment,
        "policy": "epsilon-greedy:epsilon=0.01,decay=0.5",
        "budget": 1_000_000,
        "others": {},
        **more,
    }


PENDING = [{"seat": LONG, "name": LONG, "since": "2026-11-16T21:44:50+00:00"}]
DOCUMENTS = [
    document("aa" * 16, "finished", round=1_000_000),
    document(
        "ab" * 16, "running", missing=PENDING, held_up=[f"{LONG} has been missing since Monday"]
    ),
    document("ac" * 16, "waiting", waiting=PENDING, held_up=[SENTENCE], note=SENTENCE),
    document("ad" * 16, "refused", note=SENTENCE, held_up=[SENTENCE]),
    {**document("ae" * 16, "ordered"), "seat": "", "changed": "", "policy": ""},
]


def printed(documents: list[RunDocument]) -> list[str]:
    stream = StringIO()
    print_list(Console(file=stream, width=WIDTH), documents)
    return stream.getvalue().splitlines()


def test_a_list_fits_a_narrow_terminal_with_a_line_for_each_run() -> None:
    lines = printed(DOCUMENTS)
    assert all(len(line) <= WIDTH for line in lines)
    heads = [line for line in lines if re.match(r"a[a-f]a[a-f]a[a-f]a[a-f] ", line)]
    assert len(heads) == len(DOCUMENTS)
    assert [line.split()[1] for line in heads] == [
        *("finished", "missing", "waiting", "refused", "ordered")
    ]
    assert " ".join(" ".join(lines).split()).count(SENTENCE) == 2
    # Columns are cut, never folded: the rest of each line is a note.
    assert all(line.startswith("  ") for line in lines[1:] if line not in heads)


def test_ids_are_as_long_as_tells_them_apart() -> None:
    near = [document("ab" * 8 + end * 8, "finished") for end in ("cc", "dd")]
    lines = printed(near)
    assert all(len(line) <= WIDTH for line in lines)
    assert [line.split()[0] for line in lines[1:]] == ["ab" * 8 + "cccc", "ab" * 8 + "dddd"]


def test_no_runs_are_said_to_be_none() -> None:
    assert printed([]) == ["no runs yet"]


@pytest.mark.parametrize("shown", DOCUMENTS, ids=lambda one: one["state"])
def test_what_is_pressing_comes_first_and_fits(shown: RunDocument) -> None:
    stream = StringIO()
    print_run(Console(file=stream, width=WIDTH), shown, Path("kits/lyon"))
    lines = stream.getvalue().splitlines()
    assert all(len(line) <= WIDTH for line in lines)
    keys = [line.split()[0] for line in lines if not line.startswith(" ")]
    pressing = [key for key in ("missing", "waiting") if shown[key]]
    assert keys[: 2 + len(pressing)] == ["run", "state", *pressing]


def shown_run(shown: RunDocument) -> str:
    stream = StringIO()
    print_run(Console(file=stream, width=WIDTH), shown, Path("kits/lyon"))
    return re.sub(r"  +", "  ", stream.getvalue())


def test_who_must_approve_sees_what_each_role_learns() -> None:
    measured = {"comp": "**every score**, and how often each arm was pulled " * 4}
    waits = document("aa" * 16, "waiting", form="paper", leakage=measured)
    lines = shown_run(waits).splitlines()
    assert all(len(line) <= WIDTH for line in lines)
    text = " ".join(" ".join(lines).split())
    assert "What each role learns in the form paper, as measured" in text
    assert "every score, and how often" in text


def test_no_more_rounds_are_shown_than_the_budget_has() -> None:
    past = document("aa" * 16, "running", round=9, budget=8)
    assert "round  8 of 8" in shown_run(past)
    assert any("8/8" in line for line in printed([past]))


def test_a_finished_run_shows_no_old_words_of_others() -> None:
    moment = "2001-11-16T21:44:50+00:00"
    said = {"text": "", "since": moment, "time": moment}
    others = {
        "lyon": {"state": "running", "round": 0, **said},
        "customer": {"state": "finished", "round": 0, **said},
    }
    members = {
        seat: {"name": seat, "role": "owner", "fingerprint": "ab cd"}
        for seat in ("lyon", "customer")
    }
    over = document("aa" * 16, "finished", round=40, budget=40, others=others, members=members)
    assert "round  40 of 40" in shown_run(over)
    assert "says  running" not in shown_run(over)
    assert "says  finished\n" in shown_run(over)
    others["lyon"]["round"] = 7
    assert "says  running, round 7\n" in shown_run({**over, "state": "running"})


def test_who_is_in_doubt_is_named_with_its_party_and_since_when() -> None:
    since = "2001-09-09T01:46:40+00:00"
    said = {"state": "in doubt", "text": "", "round": 3, "since": since, "time": since}
    members = {"actor": {"name": "ward", "role": "actor", "fingerprint": "ab cd"}}
    shown = document("aa" * 16, "running", others={"actor": said}, members=members)
    assert "state  in doubt" in shown_run(shown)
    assert "waiting  actor (ward), for its operator, since 2001-09-09 01:46:40 UTC" in shown_run(
        shown
    )
    assert printed([shown])[1].split()[1:3] == ["in", "doubt"]
    assert "for its operator" not in shown_run({**shown, "state": "stopped"})
    run, own = "aa" * 16, "in doubt: nobody knows"
    statuses = {
        "actor": Status(run, "actor", 1e9, "in doubt", "actor waits", 3, since=1e9),
        "lyon": Status(run, "lyon", 1e9, "in doubt", "lyon waits", 3, since=1e9),
    }
    row = RunRow(run, b"", b"", "lyon", "running", own, 1e9, 1e9, "1")
    assert held_up(row, statuses, {"actor": "ward"}) == [
        own,
        "actor (ward) has been waiting for its operator since 2001-09-09 01:46:40 UTC",
    ]


def test_lists_name_who_is_missing_who_waits_and_whom_an_order_looks_for(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        be_strict(made, "lyon")
        await made.start(*EVERYONE)
        run = await made.order()
        await until(lambda: _pending(made, "customer", run, "waiting") == {"lyon"})
        await made.stop("comp")
        await until(lambda: _pending(made, "customer", run, "missing") == {"comp"})
        made.ask("customer", "ff" * 16, _order("lyon", "nobody"))
        await until(lambda: "nobody" in _pending(made, "customer", "ff" * 16, "missing"))
        listed = _lotor(made, "customer", "runs", "list")
        for words in (
            "comp has been missing since",
            "lyon has been waiting for approval",
            "looking for comp, ",
        ):
            assert words in listed
        assert "missing  comp, since" in _lotor(made, "customer", "runs", "show", run[:8])
        own = _lotor(made, "lyon", "runs", "show", run[:8])
        assert f"lotor runs approve {run[:8]} --kit {made.kit('lyon')}" in " ".join(own.split())
        assert f"below least_budget {LIMIT}" in " ".join(own.split())
        assert "\nform  shared\n" in own
        assert "What each role learns in the form shared, as measured" in own
        told = json.loads(_lotor(made, "lyon", "runs", "show", run[:8], "--json"))
        leakage = lotor.Samba.form_called("shared").leakage
        assert told["leakage"] == {role: one.measured for role, one in leakage.items()}
        assert "leakage" not in _lotor(made, "customer", "runs", "show", run[:8], "--json")
        for one in json.loads(_lotor(made, "lyon", "runs", "list", "--json")):
            assert (one["protocol"], one["form"]) == ("samba", "shared")
        assert str(LIMIT) not in _lotor(made, "customer", "runs", "show", run[:8], "--json")

    play(scene, tmp_path, *NOBODY)


def test_a_party_that_is_not_served_says_so_and_blames_nobody(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        made.hold()
        run = await made.order()
        await made.held(run)
        await made.stop("customer")
        listed = " ".join(_lotor(made, "customer", "runs", "list").split())
        assert f"served by no process now: `lotor serve --kit {made.kit('customer')}`" in listed
        shown = _lotor(made, "customer", "runs", "show", run[:8])
        assert shown.splitlines()[2].startswith("served  by no process now")
        for words in (listed, shown):
            assert "missing" not in words
            assert "away" not in words
        assert "stop ordered" not in listed
        assert (
            "as soon as this party runs again"
            in command(*("runs", "stop", run[:8], "--kit", str(made.kit("customer")))).stderr
        )
        assert "\nstop  ordered" in _lotor(made, "customer", "runs", "show", run[:8])
        assert "stop ordered" in _lotor(made, "customer", "runs", "list")

    play(scene, tmp_path, *EVERYONE)


def test_whom_a_party_missed_when_it_stopped_is_not_said_to_be_missing(tmp_path: Path) -> None:
    async def scene(made: Stage) -> None:
        made.hold()
        run = await made.order()
        await made.held(run)
        await made.stop("controller")
        await until(lambda: _pending(made, "customer", run, "missing") == {"controller"})
        await made.stop("customer")
        assert _pending(made, "customer", run, "missing") == set()
        assert "missing" not in _lotor(made, "customer", "runs", "list")

    play(scene, tmp_path, *EVERYONE)


def _order(*owners: str) -> commands.StartRun:
    members = {"controller": ["controller"], "comp": ["comp"], "owner": list(owners)}
    return commands.StartRun("samba", BUDGET, {"policy": "ucb"}, members)


def _lotor(made: Stage, name: str, *arguments: str) -> str:
    done = command(*arguments, "--kit", str(made.kit(name)))
    assert done.returncode == 0, done.stderr
    return re.sub(r"  +", "  ", done.stdout)


def _pending(made: Stage, name: str, run: str, key: str) -> set[str]:
    shown = json.loads(_lotor(made, name, "runs", "show", run, "--json"))
    assert all(one["since"] for one in shown[key])
    return {one["name"] for one in shown[key]}


def test_who_is_lost_and_who_has_left_is_shown_with_what_the_total_counts() -> None:
    lost = {"seat": "lyon", "note": "lyon is excluded once all others agree: comp agreed"}
    left = {"seat": "graz", "since": "2026-11-16T21:44:50+00:00"}
    rule = {"exclude_after": "7 d", "lost": [lost], "excluded": [left]}
    counts = {"reward": 12.0, "outcomes": 24, "without": {"graz": 7}}
    stream = StringIO()
    shown = document("ab" * 16, "running", budget=25, **rule, **counts)
    print_run(Console(file=stream, width=WIDTH), shown, Path("kit"))
    words = " ".join(stream.getvalue().split())
    assert "counts what was escrowed by graz, which left before round 7" in words
    assert "lyon is excluded once all others agree: comp agreed" in words
    assert "excluded graz, which had been away since 2026-11-16" in words
    assert "an owner that is away for 7 d may be excluded, if all others agree" in words
