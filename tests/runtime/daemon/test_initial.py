"""A first party.toml for every role of every protocol and form: readable, fitting, explained."""

import re
from itertools import chain
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lotor.core.errors import ConfigError, InputError
from lotor.crypto.certificates import PartyKey, Subject
from lotor.protocols.form import ACT, FEATURES, MODEL, PULL, AnyForm
from lotor.protocols.protocol import PROTOCOLS, roles_that_bring, roles_that_order
from lotor.runtime.daemon.address import Address
from lotor.runtime.daemon.authority import AuthorityFolder
from lotor.runtime.daemon.config import TABLES, PartyConfig, config_of, read_config
from lotor.runtime.daemon.doctor.kit_checks import ExaminedKit, check_role
from lotor.runtime.daemon.initial.meanings import KEY_MEANINGS, TABLE_MEANINGS
from lotor.runtime.daemon.initial.place import (
    OWNER_KEYS,
    InitialSettings,
    PartyPlace,
    party_place,
)
from lotor.runtime.daemon.initial.writing import first_config, write_first_config

PAGE = (Path(__file__).parents[3] / "docs" / "party.md").read_text()
ROW = re.compile(r"^\| `(\w+)` \| .+? \| (.+) \|$", re.MULTILINE)

PLACES = [
    PartyPlace(name, form, role, "lyon")
    for name in PROTOCOLS
    for form in map(PROTOCOLS[name].form_called, PROTOCOLS[name].forms)
    for role in form.roles
]
BROUGHT: dict[str, dict[str, object]] = {
    PULL: {"pull": "hospital:pull"},
    ACT: {"act": "hospital:act", "arms": 3},
    FEATURES: {"features": "hospital:features", "dimensions": 6},
    MODEL: {"model": "hospital:model"},
}


def title(place: PartyPlace) -> str:
    return f"{place.protocol}-{place.form.name}-{place.role.name}"


def members(form: AnyForm) -> dict[str, list[str]]:
    return {
        role.name: [f"{role.name}-{number}" for number in range(len(role.seats) or 3)]
        for role in form.roles
        if role.name != form.opener
    }


def whole(place: PartyPlace) -> InitialSettings:
    """All that a place needs."""
    owner = dict(chain.from_iterable(BROUGHT[one].items() for one in place.role.brings))
    consent = {} if place.opens else {"customers": ["acme"], "policies": ["*"]}
    dialled = place.dials(0 if place.listens else len(place.form.hubs))
    return InitialSettings(
        listen=Address("0.0.0.0", 7400) if place.listens else None,  # noqa: S104
        peers={f"{seat}-there": Address("hub.example.org", 7400) for seat in dialled},
        members=members(place.form) if place.opens else {},
        owner=owner,
        consent=consent,
        local=7411,
    )


@pytest.mark.parametrize("place", PLACES, ids=title)
def test_with_all_that_it_needs_it_fits_its_role(place: PartyPlace, tmp_path: Path) -> None:
    config = place.config(whole(place))
    assert place.missing(config) == []
    write_first_config(tmp_path / "party.toml", place, config)
    assert read_config(tmp_path / "party.toml") == config
    assert (config.owner is None) == (not place.role.brings)
    assert (config.consent is None) == place.opens == bool(config.members)
    request = PartyKey.new().request(Subject("lyon", place.role.name))
    authority = AuthorityFolder.create(tmp_path / "authority", "clinics").authority
    kit = ExaminedKit(tmp_path, certificate=authority.sign(request, 30), config=config)
    bringers, openers = roles_that_bring(PROTOCOLS), roles_that_order(PROTOCOLS)
    assert {one.result for one in check_role(kit, openers, bringers)} == {"ok"}


@pytest.mark.parametrize("place", PLACES, ids=title)
def test_with_nothing_it_can_be_read_and_says_what_is_missing(place: PartyPlace) -> None:
    config = place.config(InitialSettings())
    text = first_config(place, config)
    assert config_of(text.encode(), Path("party.toml")) == config
    missing = place.missing(config)
    assert any("listen" in one for one in missing) == place.listens
    assert any("[members]" in one for one in missing) == place.opens
    assert any("[owner]" in one for one in missing) == bool(place.role.brings)
    assert any("[peers]" in one for one in missing) == bool(place.dials(0))
    if config.consent is not None:
        assert not config.consent.customers, "every run waits for approval"


@pytest.mark.parametrize("place", PLACES, ids=title)
def test_its_suggestions_can_be_read_when_the_signs_before_them_are_taken_away(
    place: PartyPlace,
) -> None:
    """All of them at once, but for an inbox and a function, of which there is one."""
    text = first_config(place, place.config(InitialSettings()))
    made = re.sub(r"^#(?=[\w\[])", "", text, flags=re.MULTILINE)
    config = config_of(made.encode(), Path("party.toml"))
    assert place.missing(config) == []
    assert max(map(len, text.splitlines())) <= 100


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_whatever_is_asked_for_stands_there_or_is_refused(data: st.DataObject) -> None:
    place = data.draw(st.sampled_from(PLACES))
    names = st.sampled_from(["acme", "lyon", "cloud-a", "cloud-b"])
    addresses = st.builds(Address, st.just("hub.example.org"), st.integers(0, 65535))
    asked = InitialSettings(
        listen=data.draw(st.none() | addresses),
        peers=data.draw(st.dictionaries(names, addresses, max_size=3)),
        members=data.draw(
            st.dictionaries(
                st.sampled_from(["owner", "comp", "server", "customer", "nobody"]),
                st.lists(names, max_size=3),
                max_size=3,
            )
        ),
        owner=data.draw(
            st.fixed_dictionaries(
                {},
                optional={
                    "pull": st.sampled_from(["a:b", "a b"]),
                    "inbox": st.booleans(),
                    "features": st.just("a:b"),
                    "dimensions": st.integers(-1, 5),
                    "arms": st.integers(-1, 5),
                    "reward_range": st.tuples(st.floats(-2, 2), st.floats(-2, 2)),
                },
            )
        ),
        consent=data.draw(
            st.fixed_dictionaries(
                {},
                optional={
                    "customers": st.lists(st.sampled_from(["*", "acme", "A b"]), max_size=2),
                    "policies": st.lists(st.sampled_from(["*", "ucb", 'u"b']), max_size=2),
                    "least_budget": st.integers(-1, 10**6),
                    "total_budget": st.integers(-1, 10**6),
                },
            )
        ),
        local=data.draw(st.none() | st.integers(-1, 70_000)),
    )
    try:
        config = place.config(asked)
    except InputError:
        return
    assert config_of(first_config(place, config).encode(), Path("party.toml")) == config
    assert dict(config.peers) == asked.peers
    assert config.listen == asked.listen


REFUSED = [
    ("samba", "shared", "owner", {"listen": Address("::", 1)}, "nobody dials the owner"),
    ("samba", "shared", "comp", {"listen": Address("::", 1)}, "nobody dials the comp"),
    ("samba", "shared", "controller", {"peers": 1}, "dials nobody, and is dialled by all"),
    ("samba", "shared", "owner", {"peers": 2}, "dials only the controller"),
    ("samba", "dealt", "comp", {"peers": 2}, "dials only the controller"),
    ("ppcb", "dealt", "server", {"peers": 2}, "dials only the server-0"),
    ("samba", "shared", "comp", {"owner": {"pull": "a:b"}}, "brings nothing: leave out pull"),
    ("ppcb", "dealt", "actor", {"owner": {"pull": "a:b"}}, "brings act: leave out pull"),
    ("samba", "shared", "owner", {"members": {"comp": ["x"]}}, "names no members"),
    ("samba", "shared", "customer", {"members": {"dealer": ["x"]}}, "have no members of the role"),
    ("samba", "shared", "customer", {"members": {"comp": ["lyon"]}}, "cannot be their comp too"),
    ("samba", "shared", "customer", {"consent": {"customers": ["x"]}}, "orders runs itself"),
    ("samba", "shared", "owner", {"own peer": True}, "cannot dial itself"),
]


@pytest.mark.parametrize(("protocol", "form", "role", "changes", "words"), REFUSED)
def test_nonsense_is_refused(
    protocol: str, form: str, role: str, changes: dict[str, object], words: str
) -> None:
    place = party_place(PROTOCOLS, role, protocol, form, "lyon")
    if "peers" in changes:
        count = int(str(changes["peers"]))
        changes = {"peers": {f"hub-{one}": Address("h", 1) for one in range(count)}}
    elif "own peer" in changes:
        changes = {"peers": {"lyon": Address("h", 1)}}
    with pytest.raises(InputError, match=re.escape(words)):
        place.config(InitialSettings(**changes))  # type: ignore[arg-type]


def test_a_wrong_number_of_members_is_refused() -> None:
    place = party_place(PROTOCOLS, "receiver", name="register")
    named = {**members(place.form), "server": ["saturn"]}
    with pytest.raises(InputError, match="needs 2 of the role server"):
        place.config(InitialSettings(members=named))


def test_the_protocol_and_the_form_follow_from_the_role_where_they_can() -> None:
    found = {role: party_place(PROTOCOLS, role) for role in ("owner", "dealer", "actor", "user")}
    assert {role: (one.protocol, one.form.name) for role, one in found.items()} == {
        "owner": ("samba", "shared"),
        "dealer": ("samba", "dealt"),
        "actor": ("ppcb", "shared"),
        "user": ("helba", "shared"),
    }
    with pytest.raises(InputError, match=r"is one of .*: say by --protocol"):
        party_place(PROTOCOLS, "principal")
    with pytest.raises(InputError, match="no protocol has the role 'clown'"):
        party_place(PROTOCOLS, "clown")
    with pytest.raises(InputError, match="samba runs of the form shared have no dealer"):
        party_place(PROTOCOLS, "dealer", "samba", "shared")


def test_one_that_exists_stays_unless_it_is_to_be_replaced(tmp_path: Path) -> None:
    place = party_place(PROTOCOLS, "comp")
    path = tmp_path / "party.toml"
    path.write_text("# mine")
    config = place.config(InitialSettings())
    with pytest.raises(ConfigError, match="is not overwritten"):
        write_first_config(path, place, config)
    assert path.read_text() == "# mine"
    write_first_config(path, place, config, replace=True)
    assert read_config(path) == config
    assert [one.name for one in tmp_path.iterdir()] == ["party.toml"]


def test_every_key_has_a_meaning() -> None:
    assert KEY_MEANINGS.keys() == TABLES.keys()
    tables = {one.name for one in msgspec.structs.fields(PartyConfig)} - set(KEY_MEANINGS[""])
    assert tables == TABLE_MEANINGS.keys()
    for table, kind in TABLES.items():
        keys = [one for one in kind.__struct_fields__ if table or one not in tables]
        assert set(KEY_MEANINGS[table]) == set(keys)
        for field in msgspec.structs.fields(kind):
            if field.name in keys and field.default in (None, msgspec.NODEFAULT):
                made = (table, field.name) in {
                    ("consent", key)
                    for key in ("customers", "policies", "least_budget", "total_budget")
                }
                known = KEY_MEANINGS[table][field.name].example is not None
                assert known or made or table == "trial", field.name
    assert set(chain.from_iterable(OWNER_KEYS.values())) == set(TABLES["owner"].__struct_fields__)


def plain(markdown: str) -> str:
    """Text without what makes it a page."""
    text = re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", markdown).replace("`", "")
    return " ".join(text.split())


@pytest.mark.parametrize("table", TABLES)
def test_the_page_begins_with_the_same_words(table: str) -> None:
    heading = f"[{table}]" if table else "At the top"
    section = PAGE.partition(f"\n### {heading}\n")[2].partition("\n#")[0]
    rows = {key: plain(text) for key, text in ROW.findall(section)}
    for key, meaning in KEY_MEANINGS[table].items():
        assert rows[key].startswith(meaning.text), key
    if table:
        top = PAGE.partition("### At the top")[2].partition("\n#")[0]
        above = {key: plain(text) for key, text in ROW.findall(top)}
        text = TABLE_MEANINGS[table]
        assert plain(section).startswith(text) or above[table].startswith(text)


def test_the_page_begins_with_the_same_words_about_peers_and_members() -> None:
    for table in ("peers", "members"):
        section = PAGE.partition(f"\n### [{table}]\n")[2].partition("\n#")[0]
        assert plain(section).startswith(TABLE_MEANINGS[table])
