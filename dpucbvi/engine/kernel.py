"""The compiled episode loop: plan, evaluate, deploy, release, post-process, for any algorithm and release."""

from collections.abc import Callable
from typing import Any, NamedTuple

from dpucbvi.counts import CENTRE, add_bits
from dpucbvi.engine.boxes import call
from dpucbvi.engine.projection import Rows, closed_form
from dpucbvi.engine.state import (
    CHANGES,
    EPISODE,
    FALLBACKS,
    PLANNED,
    RECORDED,
    RELEASED,
    Memory,
    Private,
    Processing,
    Record,
    World,
)
from dpucbvi.mdp import draw
from dpucbvi.privatizers.arrays import Take
from dpucbvi.protocol import Floats, Ints, Noisy, User


def step(world: World, h: int) -> int:
    """Where the transitions of step h are: all steps have the same if there is one."""
    return h if len(world.P) > 1 else 0


def action_value(r: float, P: Floats, successor: Ints, V_next: Floats) -> float:
    """r(s,a) + Σ_{s'} P(s'|s,a) V_{h+1}(s')."""
    total = 0.0
    for i in range(P.size):
        total += P[i] * V_next[successor[i]]
    return r + total


def evaluate(world: World, pi: Ints | Floats, V: Floats, steps: int) -> None:
    """V^π of the first steps by backward induction, from the V^π of the step after them."""
    _, S, A = world.r.shape
    for h in range(steps - 1, -1, -1):
        r, P, successor, V_next = world.r[h], world.P[step(world, h)], world.next[step(world, h)], V[h + 1]
        for s in range(S):
            if pi.ndim == 2:  # known when compiled: the other branch is left out
                a = pi[h, s]
                V[h, s] = action_value(r[s, a], P[s, a], successor[s, a], V_next)
            else:
                V[h, s] = 0.0
                for a in range(A):
                    V[h, s] += pi[h, s, a] * action_value(r[s, a], P[s, a], successor[s, a], V_next)


def keep_policy(pi: Ints | Floats, last: Ints | Floats) -> int:
    """Up to which step the policy differs from the last one, which it becomes; 0 if nowhere."""
    H = pi.shape[0]
    now, before, steps = pi.reshape((H, pi.size // H)), last.reshape((H, pi.size // H)), 0
    for h in range(H):
        changed = False
        for i in range(now.shape[1]):
            changed |= now[h, i] != before[h, i]
            before[h, i] = now[h, i]
        steps = h + 1 if changed else steps
    return steps


def choose(pi: Ints | Floats, h: int, s: int, u: float) -> int:
    """The action π_h(s), or one drawn from the probabilities π_h(·|s)."""
    if pi.ndim == 2:
        return pi[h, s]
    else:  # needed: numba leaves out a branch, not what follows it
        return draw(pi[h, s], u)


def deploy(world: World, memory: Memory, u: Floats) -> int:
    """[Alg.1 L16] One trajectory into memory; returns s_1."""
    H = world.r.shape[0]
    s = first = memory.s[0] = draw(world.initial, u[0])
    for h in range(H):
        a = choose(memory.pi, h, s, u[1 + 3 * h])
        r = world.r[h, s, a]
        if world.bernoulli:
            r = 1.0 if u[3 + 3 * h] < r else 0.0
        memory.N_visits[h, s, a] += 1.0
        at = step(world, h)
        s = world.next[at, s, a, draw(world.P[at, s, a], u[2 + 3 * h])]
        memory.a[h], memory.r[h], memory.s[h + 1] = a, r, s
    return first


def process(c: Processing, private: Private, rows: Rows) -> int:
    """From N̂ to Ñ and R̃, in place; returns how many LPs were infeasible (counts.PrivateCounts.update)."""
    flat, N_hat_sa, N_hat_sas, R, N_sa, N_sas, sd = private
    S, n = N_hat_sas.shape
    cells = flat[n:-n].reshape((flat.size // n - 2, n))  # as released: N̂(s,a,s'), or symbols
    if c.zero > 0.0:
        for cell in range(len(cells)):
            for row in range(n):
                cells[cell, row] = 0.0 if cells[cell, row] < c.zero * sd[row] else cells[cell, row]
    if c.joint:  # N̂(s,a,s') and R̂(s,a) from the histogram of symbols (counts.summed)
        R[:] = 0.0
        for s in range(S):
            for row in range(n):
                R[row] += cells[S + s, row]
                N_hat_sas[s, row] += cells[S + s, row]
    if c.summed:
        N_hat_sa[:] = 0.0
        for s in range(S):
            for row in range(n):
                N_hat_sa[row] += N_hat_sas[s, row]
    fallbacks = 0
    if c.lp:
        fallbacks = closed_form(N_hat_sa, N_hat_sas, c.E, c.w, N_sa, N_sas, rows)
    if c.rewards.size > 0:
        for row in range(n):
            R[row] = c.rewards[row] * N_sa[row]
    elif c.centred:
        for row in range(n):
            R[row] += CENTRE * N_sa[row]
    return fallbacks


# --- the release, by a privatizer's own `take` (privatizers/arrays.py) on the engine's memory -----------------


def release_of(take: Take) -> Callable[[Any, Memory, Noisy, Ints, int], int]:
    """The `take` of a privatizer as a plain function of the engine's arrays, for the loop of kernel.py."""

    def release(state: Any, memory: Memory, noisy: Noisy, after: Ints, t: int) -> int:
        """Take user t, whose trajectory memory has; 1 if what is in `noisy` is new."""
        cells = noisy.counts.size // noisy.sd.size - 2
        place_of = symbols(places(after, memory), memory, cells // 2)
        user = User(memory.s, memory.a, memory.r, memory.pi, place_of)
        return int(take(state, t, user, noisy))

    return release


def symbols(moves: Ints, memory: Memory, D: int) -> Ints:
    """The places with the reward's bit in them, where symbols are counted."""
    if memory.rounding.generator.size == 0:
        return moves
    memory.place[:] = moves
    add_bits(memory.rounding, memory.r, D, memory.place)
    return memory.place


def places(after: Ints, memory: Memory) -> Ints:
    """Which of its pair's counters the next state of every step has: the first, if it has none (support.py)."""
    if after.ndim == 3:  # known when compiled: the other branch is left out
        G, D, pairs = after.shape
        for h in range(memory.a.size):
            pair = memory.s[h] * (pairs // memory.V.shape[1]) + memory.a[h]
            memory.place[h] = 0
            for d in range(1, D):
                if after[h % G, d, pair] == memory.s[h + 1]:
                    memory.place[h] = d
        return memory.place
    else:
        return memory.s[1:]


# --- the loop -------------------------------------------------------------------------------------------------


class Parts(NamedTuple):
    """Addresses of C functions, each with the address of its box (boxes.py)."""

    plan: int
    plan_box: int
    release: int
    release_box: int
    hook: int = 0  # called when a user has been met, before her data is released; 0: nobody asks
    hook_box: int = 0


def run_episodes(
    world: World,
    parts: Parts,
    processing: Processing,
    lazy: bool,
    private: Private,
    memory: Memory,
    record: Record,
    uniforms: Floats,
    rows: Rows,
    K: int,
) -> int:
    """One episode per row of `uniforms`, from where `memory` stands; -1 if a part has failed.

    `lazy`: a plan on the same counts is the same plan, and is not made again.
    """
    tally = memory.tally
    for row in range(uniforms.shape[0]):
        k = tally[EPISODE] = tally[EPISODE] + 1  # [Alg.1 L3]
        differ = 0  # steps: the values of those after them stay
        if k == 1 or not lazy or tally[PLANNED] < tally[RELEASED]:
            for h in range(memory.ceiling.size):  # no minimum with the last Q [D32]
                for pair in range(memory.Q.shape[1]):
                    memory.Q[h, pair] = memory.ceiling[h]
            if call(parts.plan, parts.plan_box, k) < 0:  # [Alg.1 L4-L15]
                return -1
            differ = keep_policy(memory.pi, memory.last_pi)
            tally[PLANNED] = tally[RELEASED]
        evaluate(world, memory.pi, memory.V_pi, differ if k > 1 else memory.pi.shape[0])
        if k > 1:
            tally[CHANGES] += differ > 0
        s1 = deploy(world, memory, uniforms[row])  # [Alg.1 L16]
        if parts.hook != 0:
            call(parts.hook, parts.hook_box, k)
        memory.total[0] += world.V_star[s1] - memory.V_pi[0, s1]
        if k == record.episodes[tally[RECORDED]]:
            record.regret[tally[RECORDED]] = memory.total[0]
            record.changes[tally[RECORDED]] = tally[CHANGES]
            record.fallbacks[tally[RECORDED]] = tally[FALLBACKS]
            tally[RECORDED] += 1
        # [Alg.1 L17]; the counts after the last episode are never released [D4]
        released = call(parts.release, parts.release_box, k) if k < K else 0
        if released < 0:
            return -1
        if released > 0:
            tally[RELEASED] += 1
            tally[FALLBACKS] += process(processing, private, rows)
    return 0
