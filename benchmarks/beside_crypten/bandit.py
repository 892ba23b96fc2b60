"""A contextual bandit's step on CrypTen 0.4.1: two parties as processes, run by CrypTen's Python.

Prints, as JSON, the CPU seconds of each process and the seconds of a step, for Algorithm 1 of the
paper as it stands and for the step that Lotor computes. `provider` says who deals: the first party
(TFP, CrypTen's default), who then knows all secrets, or a third process (TTP).
"""

import argparse
import json
import multiprocessing
import os
import sys
import tempfile
import types
from time import perf_counter, process_time
from typing import Any

# CrypTen imports what turns ONNX models into its own; torch has since moved what that builds on.
_converter = types.ModuleType("crypten.nn.onnx_converter")
for _name in ("from_onnx", "from_pytorch", "from_tensorflow", "TF_AND_TF2ONNX"):
    setattr(_converter, _name, None)
sys.modules[_converter.__name__] = _converter

import crypten  # type: ignore[import-not-found]  # noqa: E402
import crypten.communicator as comm  # type: ignore[import-not-found]  # noqa: E402
import torch  # type: ignore[import-not-found]  # noqa: E402
from crypten.config import cfg  # type: ignore[import-not-found]  # noqa: E402
from crypten.mpc.provider.ttp_provider import TTPServer  # type: ignore[import-not-found]  # noqa: E402

EPSILON, BITS, WARM_UP = 0.1, 20, 3
PARTIES = 2
Tensor = Any  # of torch or CrypTen, whose types the checker cannot see


class Bandit:
    """What both steps share: data, exploration, and who opens what."""

    def __init__(self, arms: int, features: int, steps: int) -> None:
        self.arms, self.features = arms, features
        draw = torch.Generator().manual_seed(7)
        contexts = torch.randn(steps, features, generator=draw)
        self.contexts = contexts / contexts.norm(dim=1, keepdim=True)
        self.rewards = torch.bernoulli(torch.full((steps, arms), 0.5), generator=draw)
        self.pulled: list[int] = []

    def context(self, t: int) -> Tensor:
        """Lines 5 to 7: each party shares its half."""
        halves = self.contexts[t].split(self.features // PARTIES)
        return crypten.cat([crypten.cryptensor(half, src=p) for p, half in enumerate(halves)])

    def opened(self, one_hot: Tensor) -> int:
        """Line 16: p' is the first party here."""
        plain = one_hot.get_plain_text(dst=0)
        self.pulled.append(int(plain.argmax()) if comm.get().get_rank() == 0 else 0)
        return self.pulled[-1]

    def reward(self, t: int, arm: int) -> Tensor:
        """Line 19."""
        return crypten.cryptensor(self.rewards[t, arm], src=0)

    def error(self) -> float:
        """How far the weights are from those of floats that pulled the same arms."""
        eye = torch.eye(self.features, dtype=torch.float64).repeat(self.arms, 1, 1)
        sums = torch.zeros(self.arms, self.features, dtype=torch.float64)
        for x, paid, arm in zip(self.contexts.double(), self.rewards, self.pulled, strict=True):
            eye[arm] += torch.outer(x, x)
            sums[arm] += paid[arm] * x
        exact = torch.linalg.solve(eye, sums.unsqueeze(2)).squeeze(2)
        return float((self.weights().get_plain_text() - exact).abs().max())

    def weights(self) -> Tensor:
        raise NotImplementedError

    def step(self, t: int) -> None:
        raise NotImplementedError


class Literal(Bandit):
    """Algorithm 1, with Sherman and Morrison's formula for every arm."""

    def __init__(self, arms: int, features: int, steps: int) -> None:
        super().__init__(arms, features, steps)
        self.inverses = crypten.cryptensor(torch.eye(features).repeat(arms, 1, 1))
        self.sums = crypten.cryptensor(torch.zeros(arms, features))

    def weights(self) -> Tensor:
        return self.inverses.matmul(self.sums.unsqueeze(2)).squeeze(2)  # line 10

    def step(self, t: int) -> None:
        x = self.context(t)
        y = crypten.cryptensor(torch.bernoulli(torch.tensor(EPSILON)), src=0)  # line 8
        scores = self.weights().matmul(x)  # line 11
        v = crypten.cryptensor(torch.rand(self.arms), src=0)  # line 12
        mixed = scores + y * (v - scores)  # line 13
        best = mixed.argmax(dim=0, one_hot=True)  # line 15
        arm = self.opened(best)
        o = crypten.cryptensor(torch.eye(self.arms)[arm], src=0)  # lines 17 and 18
        r = self.reward(t, arm)
        u = self.inverses.matmul(x)  # equation 1
        divisor = (u.matmul(x) + 1).reciprocal()
        scaled = u * (o * divisor).unsqueeze(1)
        self.inverses -= scaled.unsqueeze(2) * u.unsqueeze(1)  # line 21
        self.sums += (o * r).unsqueeze(1) * x.unsqueeze(0)  # line 22


class Rewritten(Bandit):
    """The step that Lotor computes: the chosen arm's row first, then one outer product."""

    def __init__(self, arms: int, features: int, steps: int) -> None:
        super().__init__(arms, features, steps)
        eye = torch.eye(features).repeat(arms, 1, 1)
        weights = torch.zeros(arms, 1, features)
        self.state = crypten.cryptensor(torch.cat([eye, weights], dim=1))
        self.others = torch.tensor([[b for b in range(arms) if b != a] for a in range(arms)])
        self.first = torch.arange(arms).unsqueeze(1).expand(arms, arms - 1)

    def weights(self) -> Tensor:
        return self.state[:, self.features]

    def step(self, t: int) -> None:
        x = self.context(t)
        gains = self.state.matmul(x)  # u and the score of each arm, by one product
        scores = gains[:, self.features]
        o = self.choice(scores)
        arm = self.opened(o)
        r = self.reward(t, arm)
        u_s = (gains * o.unsqueeze(1)).sum(dim=0)
        u, s = u_s[: self.features], u_s[self.features]
        k = u * self.reciprocal(u.dot(x))
        factors = crypten.cat([-u, (r - s).unsqueeze(0)])
        change = factors.unsqueeze(1) * k.unsqueeze(0)
        self.state += o.reshape(self.arms, 1, 1) * change.unsqueeze(0)

    def choice(self, scores: Tensor) -> Tensor:
        """All pairs in one pass, with ranks below the last bit, and a tree of products."""
        ranks = crypten.cryptensor(torch.randperm(self.arms) / 2.0**BITS, src=0)
        ranked = scores * 16 + ranks
        wins = (ranked[self.first] - ranked[self.others]) >= 0
        # Whole numbers, as comparisons are: they need no rescaling.
        y = crypten.cryptensor(torch.bernoulli(torch.tensor(EPSILON)), src=0, precision=0)
        column = (1 - y).reshape(1, 1).expand(self.arms, 1)
        greedy = crypten.cat([wins, column], dim=1).prod(dim=1)
        turn = torch.eye(self.arms)[torch.randint(self.arms, ())]
        uniform = crypten.cryptensor(turn, src=0, precision=0)
        return greedy + y * uniform

    @staticmethod
    def reciprocal(d: Tensor) -> Tensor:
        """1 / (1 + d) for 0 <= d <= 1, without CrypTen's exponential start."""
        z = d * (-8 / 17) + 16 / 17
        e = 1 - (d + 1) * z
        for _ in range(2):
            z = z + z * e
            e = e.square()
        return z + z * e


def party(rank: int, options: argparse.Namespace, meeting: str, told: Any) -> None:
    """One process: a party, or the one that deals."""
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(PARTIES), RENDEZVOUS=meeting)
    torch.set_num_threads(1)
    cfg.mpc.provider = options.provider
    cfg.encoder.precision_bits = BITS
    cfg.functions.max_method = "pairwise"
    cfg.functions.reciprocal_all_pos = True
    cfg.functions.reciprocal_nr_iters = 7  # the paper's
    if rank == PARTIES:
        began = process_time()
        TTPServer()
        # It is told of no step: its start, which the parties leave out, is little beside these.
        told.put((rank, (process_time() - began) / (options.steps + WARM_UP), 0.0, 0.0))
        return
    crypten.init()
    kind = Rewritten if options.rewritten else Literal
    bandit = kind(options.arms, options.features, options.steps + WARM_UP)
    for t in range(WARM_UP):
        bandit.step(t)
    cpu, wall = process_time(), perf_counter()
    for t in range(WARM_UP, WARM_UP + options.steps):
        bandit.step(t)
    cpu, wall = process_time() - cpu, perf_counter() - wall
    error = bandit.error()
    told.put((rank, cpu / options.steps, wall / options.steps, error if rank == 0 else 0.0))
    crypten.uninit()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--arms", type=int, default=10)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--provider", choices=("TFP", "TTP"), default="TFP")
    parser.add_argument("--rewritten", action="store_true", help="the step that Lotor computes")
    options = parser.parse_args()
    spawn = multiprocessing.get_context("spawn")
    told = spawn.Queue()
    ranks = range(PARTIES + (options.provider == "TTP"))
    with tempfile.TemporaryDirectory() as folder:
        meeting = f"file://{folder}/meeting"
        processes = [spawn.Process(target=party, args=(p, options, meeting, told)) for p in ranks]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        if any(process.exitcode for process in processes):
            sys.exit("a party of CrypTen's failed, see above")
    costs = sorted(told.get(timeout=10) for _ in ranks)
    _, cpu, walls, errors = zip(*costs, strict=True)
    print(json.dumps({"cpu": cpu, "seconds": max(walls), "error": max(errors)}))


if __name__ == "__main__":
    main()
