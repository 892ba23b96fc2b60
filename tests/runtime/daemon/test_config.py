import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lotor.core.errors import ConfigError
from lotor.core.fixed_point import MAXIMAL_BUDGET
from lotor.runtime.daemon.config import (
    Address,
    ConsentRules,
    LimitsTable,
    OwnerTable,
    PartyConfig,
    TrialTable,
    read_config,
    write_config,
)

names = st.from_regex(r"[a-z][a-z0-9-]{0,62}", fullmatch=True)
hosts = st.sampled_from(["127.0.0.1", "::1", "a.example.org"])
addresses = st.builds(Address, hosts, st.integers(0, 65535))
seconds = st.floats(min_value=1e-9, max_value=1e12)
limits = st.builds(
    LimitsTable,
    wait=seconds,
    keep_alive=seconds,
    handshake=seconds,
    max_frame=st.integers(1 << 17, 1 << 40),
)
owners = st.builds(
    OwnerTable,
    pull=st.sampled_from(["hospital:pull", "a.b.c:Thing.method"]),
    arms=st.integers(1, 100),
    reward_range=st.tuples(st.floats(-1e9, 0), st.floats(1, 1e9)),
    repeatable=st.booleans(),
    tick=seconds | st.just(0.0),
)
rules = st.builds(
    ConsentRules,
    customers=st.lists(names | st.just("*")).map(tuple),
    policies=st.lists(st.sampled_from(["*", "ucb", "softmax:tau=0.02", 'my."policy"\\:x=é☃'])).map(
        tuple
    ),
    least_budget=st.integers(1, MAXIMAL_BUDGET),
    total_budget=st.integers(MAXIMAL_BUDGET, 1 << 60),
    privacy_budget=st.none() | st.floats(0.0, allow_infinity=False),
    largest_delta=st.floats(0.0, 0.01),
    code=st.lists(st.sampled_from(["*", "lotor-toy", "other.package"])).map(tuple),
    reveal=st.lists(st.sampled_from(["*", "best", "counts"])).map(tuple),
)


@st.composite
def members(draw: st.DrawFn) -> dict[str, tuple[str, ...]]:
    everybody = draw(st.lists(names, unique=True, max_size=6))
    roles = draw(st.lists(names, unique=True, min_size=len(everybody), max_size=len(everybody)))
    return {role: (name,) for role, name in zip(roles, everybody, strict=True)}


configs = st.builds(
    PartyConfig,
    state=st.sampled_from(["state", "/var/lib/lotor", "a folder/é", 'quo"te\\']),
    listen=st.none() | addresses,
    peers=st.dictionaries(names, addresses.filter(lambda address: address.port > 0), max_size=4),
    limits=limits,
    owner=st.none() | owners,
    consent=st.none() | rules,
    members=members(),
    trial=st.none() | st.builds(TrialTable, seed=st.integers(0, 1 << 48)),
)


@given(config=configs)
def test_what_is_written_is_read(config: PartyConfig) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "party.toml")
        write_config(path, config)
        assert read_config(path) == config
        assert [file.name for file in Path(folder).iterdir()] == ["party.toml"]


def read(tmp_path: Path, text: str) -> PartyConfig:
    path = tmp_path / "party.toml"
    path.write_bytes(text.encode())
    return read_config(path)


def test_an_empty_file_is_the_safe_default(tmp_path: Path) -> None:
    config = read(tmp_path, "")
    assert config == PartyConfig()
    assert config.listen is None
    assert config.consent is None
    assert config.state_folder(tmp_path) == tmp_path / "state"


OWNER = '[owner]\npull = "hospital:pull"\n'
ACT = '[owner]\nact = "ward:act"\n'
FEATURES = '[owner]\nfeatures = "clinic:features"\n'
CONSENT = '[consent]\ncustomers = ["acme"]\npolicies = ["ucb"]\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lisen = '7400'", "lisen: there is no such key; the keys of this table are state, listen"),
        ("listen = 7400", "listen: 7400 is not an address"),
        ("listen = 'here'", "listen: 'here' is not an address"),
        ("state = ''", "state: must be"),
        ("state = 7", 'state: expected text in "quotes", got a whole number'),
        ("limits = 7", "limits: expected a table, got a whole number"),
        ("[limits]\nwat = 1", "limits.wat: there is no such key; the keys of this table are wait"),
        ("[limits]\nwait = 0", "limits.wait: must be a number above 0"),
        ("[limits]\nwait = nan", "limits.wait: must be a number above 0"),
        ("[limits]\nhandshake = inf", "limits.handshake: must be a number above 0"),
        (
            "[limits]\nkeep_alive = '9'",
            'limits.keep_alive: expected a number, got text in "quotes"',
        ),
        ("[limits]\nmax_frame = 10", "limits.max_frame: must be at least"),
        ("[limits]\nmax_frame = 1e9", "limits.max_frame: expected a whole number, got a number"),
        ("[peers]\ncloud-a = 'x'", "peers.cloud-a: 'x' is not an address"),
        ("[peers]\ncloud-a = 'x:0'", "peers.cloud-a: must be the port where it listens"),
        ("[peers]\nCloud = 'x:1'", "peers: the name 'Cloud' cannot be used"),
        ("[owner]", "owner.pull: is missing, and so are inbox, act, features and model"),
        ("[owner]\nact = 'ward'", "owner.act: must be written as"),
        ("[owner]\nfeatures = 'a:b'", "owner.dimensions: says how many numbers `features`"),
        (OWNER + "dimensions = 3", "owner.dimensions: says how many numbers `features`"),
        (FEATURES + "dimensions = 0", "owner.dimensions: must be a whole number from 1"),
        (FEATURES + "dimensions = 3\narms = 2", "owner.arms: must be left out where there is no"),
        (ACT + "reward_range = [0, 2]", "owner.reward_range: must be left out where there is no"),
        ("[owner]\npull = 'hospital'", "owner.pull: must be written as"),
        (OWNER + "arms = 0", "owner.arms: must be a whole number from 1"),
        (OWNER + "arms = true", "owner.arms: expected a whole number, got true or false"),
        (OWNER + "reward_range = [1, 0]", "owner.reward_range: reward_range (1.0, 0.0) is empty"),
        (OWNER + "reward_range = [1]", "owner.reward_range: expected a list of length 2"),
        (OWNER + "reward_range = [1, 'x']", "owner.reward_range[1]: expected a number"),
        (OWNER + "repeatable = 1", "owner.repeatable: expected true or false"),
        (OWNER + "tick = -1", "owner.tick: must be 0 or"),
        ("[consent]", "consent.customers: is missing"),
        (CONSENT + "least_budget = 9\ntotal_budget = 8", "consent.total_budget: must be at least"),
        (CONSENT + "least_budget = 0\ntotal_budget = 8", "consent.least_budget: must be a number"),
        *(
            (
                CONSENT + f"least_budget = 1\ntotal_budget = 8\nprivacy_budget = {value}",
                "consent.privacy_budget: must be 0 or a number above it",
            )
            for value in ("-0.5", "-1", "nan", "inf")
        ),
        *(
            (
                CONSENT + f"least_budget = 1\ntotal_budget = 8\nlargest_delta = {value}",
                "consent.largest_delta: must be a probability from 0 to 0.01",
            )
            for value in ("-1e-9", "0.011", "1", "nan", "inf")
        ),
        (CONSENT + "privacy_budget = 'none'", "consent.privacy_budget: expected a number"),
        ("[consent]\ncustomers = 'acme'", "consent.customers: expected a list"),
        (CONSENT + "forms = 'paper'", "consent.forms: expected a list"),
        (
            CONSENT + "least_budget = 1\ntotal_budget = 8\nforms = ['paper', 'papr']",
            "consent.forms: no protocol that is installed here has a form 'papr': choose from ",
        ),
        (CONSENT + "reveal = 'best'", "consent.reveal: expected a list"),
        (
            CONSENT + "least_budget = 1\ntotal_budget = 8\nreveal = ['best', 'bset']",
            "consent.reveal: no protocol that is installed here can tell 'bset': choose from best",
        ),
        (
            CONSENT.replace("ucb", "softmax:tua=1") + "least_budget = 1\ntotal_budget = 8",
            "consent.policies: policy softmax has no parameter 'tua'",
        ),
        (
            CONSENT.replace("acme", "Acme!") + "least_budget = 1\ntotal_budget = 8",
            "consent.customers: the name 'Acme!' cannot be used",
        ),
        ("[members]\nowner = 'lyon'", "members.owner: expected a list"),
        ("[members]\nowner = ['lyon', 1]", "members.owner[1]: expected text"),
        ("[members]\nowner = []", "members.owner: must be one name or more"),
        ("[members]\nowner = ['lyon']\ncomp = ['lyon']", "members: lyon may be listed once only"),
        ("[trial]\nseed = -1", "trial.seed: must be a whole number from 0"),
        ("[trial]\nseed = 1.5", "trial.seed: expected a whole number"),
        ("= 7", "is not TOML"),
        ("[limits]\n[limits]", "is not TOML"),
        ("seed = " + "9" * 5000, "is not TOML"),
        ("x = " + "[" * 10_000, "is not TOML"),
    ],
)
def test_an_error_names_file_key_and_what_is_allowed(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)) as caught:
        read(tmp_path, text)
    assert str(tmp_path / "party.toml") in str(caught.value)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "party.toml").write_bytes(b"state = '\xff'")
    with pytest.raises(ConfigError, match="is not TOML"):
        read_config(tmp_path / "party.toml")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot read .*party\.toml.*docs/party\.md"):
        read_config(tmp_path / "party.toml")


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "party.toml").mkdir()
    with pytest.raises(ConfigError, match="cannot write"):
        write_config(tmp_path / "party.toml", PartyConfig(listen=Address("127.0.0.1", 0)))
    assert [file.name for file in tmp_path.iterdir()] == ["party.toml"]
