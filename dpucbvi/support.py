"""Which next states of a pair (s,a) are counted: all S as in the paper, or those known to be possible [D35].

Where the transitions that can happen are public (a grid, a queue, a river), a counter for one that cannot holds
nothing but noise. With a known support every pair has D counters in place of S, D the largest number of next
states that a pair has; a pair with fewer is filled up with the lowest other states, so that all rows are as
long. Agents get N(s,a,s') for all s' as ever, 0 where it is not counted.

Privacy does not rest on the declaration. A state that is not among a pair's D goes to the first of its
counters: σ is then the σ of all S next states with counters of one (h,s,a) merged, a public linear map that
makes no ℓ1 or ℓ2 sensitivity larger (in sensitivity.py a cell is visited as often as its pair at most).

Accuracy does: if every transition of the MDP is in the support, N(s,a) is the sum of its D counts, all other
N(s,a,s') are 0 and known, and Eq.4 over D entries, Eq.5 with E/(2D) and Lemma 5.4 hold with D for S:

    |N̂ - N| ≤ E/4 for all counters  ⟹  N is feasible, so |x - N(s,a,s')| ≤ E/2 and |Σx - N(s,a)| ≤ E/2
    ⟹  N(s,a) ≤ Σx + E/2 = Ñ(s,a) ≤ N(s,a) + E  and  |x + E/(2D) - N(s,a,s')| ≤ E/2 + E/(2D) ≤ E.

So does the proof in confidence.bound_to_E, where a row sum has D noises. A union bound has GSA(D+2) counters.
The constants of line 7 and of the other agents keep their S: each is an upper bound of what D would give.
"""

from typing import NamedTuple

import numpy as np

from dpucbvi.mdp import TabularMDP, Trajectory, first_true
from dpucbvi.protocol import Floats, Ints


class Support(NamedTuple):
    """The D next states that are counted after every pair."""

    next: Ints  # [g, s, a, d], ascending in d

    @property
    def D(self) -> int:
        return self.next.shape[-1]

    def moves(self, trajectory: Trajectory) -> Ints:
        """To which of its pair's D counters each step of a user belongs: the first, if it is none of them."""
        g = np.arange(len(trajectory.a)) % len(self.next)
        return (self.next[g, trajectory.s[:-1], trajectory.a] == trajectory.s[1:, None]).argmax(axis=1)

    def spread(self, N_sas: Floats) -> Floats:
        """N(s,a,s') for all s' from the D that are counted."""
        G, S, A, _ = self.next.shape
        every = np.zeros((G, S, A, S))
        np.put_along_axis(every, self.next, N_sas, axis=-1)
        return every


def support_of(mdp: TabularMDP, G: int) -> Support | None:
    """The support of an MDP as it is counted; None if a pair has all S next states.

    With pooled counts a transition is possible if it is so at any step.
    """
    possible = mdp.P_once > 0.0
    if G == 1:
        possible = np.asarray(possible.any(axis=0, keepdims=True))
    D = int(possible.sum(axis=-1).max())
    if mdp.S == D:
        return None
    chosen = np.sort(first_true(possible, D), axis=-1)
    return Support(np.broadcast_to(chosen, (G, *chosen.shape[1:])))
