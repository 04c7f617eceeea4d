"""What a privatizer guarantees, for whom, against whom and on which assumptions, without an MDP.

    dp.certify(dp.Batches(1, noise="exact"), H=20, S=6, A=2, K=50_000, pooled=True)    # or .to_dict()

The numbers are the privatizer's own (privacy/certificate.py). A privatizer of the package has them from a proof
(paper/PRIVACY.md); anybody else's declares them, and nothing here believes it more than that.
"""

import math
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from dpucbvi import privatizers
from dpucbvi.errors import InputError, check_name, whole
from dpucbvi.privacy.certificate import (
    HOW,
    READ,
    RELATIONS,
    RELEASE,
    SIMULATION,
    Certificate,
    at_most,
)
from dpucbvi.protocol import Problem
from dpucbvi.simulate import certificate_of, check_privatizer

PROVEN, DECLARED, AUDITED = "proven", "declared", "audited"  # audited: declared, and dp.audit found nothing
# By model: what is protected, from whom, and who is trusted.
MODELS = {
    "JDP": (
        "one user's whole trajectory",
        "everybody else together: they see every release, their own policies and what they did",
        "whoever runs the server is trusted",
    ),
    "LDP": (
        "one user's whole trajectory",
        "everybody, the server too",
        "every user answers on a device of her own",
    ),
    "DP": ("all data of one user", "everybody who sees what is released", "whoever holds the data is trusted"),
    "none": ("nothing", "nobody", "nobody is trusted"),
}
# By kind of noise: what must hold.
NOISES = {
    SIMULATION: "a simulation: its noise is seeded floats, and hides nobody who is real",
    RELEASE: "the system's random words are uniform, and nobody sees how long a draw takes",
    READ: "nothing: the agent reads trajectories",
}
WORLD = "what others do because of her, and not because of a release, is not covered"


class Measures(NamedTuple):
    """One guarantee in three measures: ε at the certificate's δ, μ and ρ; infinite where none is known."""

    epsilon: float
    mu: float
    rho: float


@dataclass(frozen=True)
class Guarantee:
    """A certificate in full.

    Parameters
    ----------
    model
        "JDP", "LDP", "DP" (all that is released, as by `dp.fit`) or "none".
    replace_one, add_remove
        ε, μ and ρ, if what a user did is replaced by anything else, and if she is added or removed.
    delta
        At which ε holds; 0: pure differential privacy.
    unit, adversary
        What is protected, and from whom.
    noise
        "simulation" or "release".
    basis
        "proven" for the privatizers of the package, "declared" for others, "audited" if `dp.audit` attacked one
        of these and found nothing.
    assumptions
        What must hold besides.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> dp.certify(dp.Central(epsilon=1), H=20, S=6, A=2, K=50_000).basis
    'proven'
    """

    model: str
    replace_one: Measures
    add_remove: Measures
    delta: float
    unit: str
    adversary: str
    noise: str
    basis: str
    assumptions: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data: what is infinite is None."""
        plain = asdict(self)
        for relation in RELATIONS:
            numbers = getattr(self, relation)._asdict()
            plain[relation] = {key: value if math.isfinite(value) else None for key, value in numbers.items()}
        return {**plain, "assumptions": list(self.assumptions)}

    def __str__(self) -> str:
        if math.isinf(self.replace_one.epsilon):
            return "no privacy is certified"
        kind = "pure ε" if self.delta == 0.0 else f"at δ = {self.delta:g}, ε"
        each = [f"{at_most(getattr(self, key).epsilon)} {RELATIONS[key]}" for key in reversed(RELATIONS)]
        lines = [f"{self.model}: {kind} = {', '.join(each)}; {HOW[self.noise]}; {self.basis}"]
        lines += [f"protects {self.unit} from {self.adversary}", *(f"- {one}" for one in self.assumptions)]
        return "\n".join(lines)


def certify(
    privatizer: Any,
    *,
    H: int,
    S: int,
    A: int,
    K: int,
    pooled: bool = False,
    per_person: int = 1,
    audit: Any = None,
) -> Guarantee:
    """Work out what a privatizer guarantees for K users, whatever the MDP and the agent are.

    Parameters
    ----------
    privatizer
        One of the package, or your own.
    H, S, A, K
        Steps of an episode, states, actions; users.
    pooled
        Whether counts are pooled over steps, as the agent's `pooled` says.
    per_person
        How many of the K users may be one person.
    audit
        What `dp.audit` found of a privatizer of your own: it then counts as audited, or is refused.

    Returns
    -------
    Guarantee
        To print, and as plain data by `to_dict()`.

    Raises
    ------
    InputError
        If a number is not accepted, the certificate is none of the privatizer's model, or the audit caught it.

    Examples
    --------
    >>> import dpucbvi as dp
    >>> private = dp.certify(dp.Batches(1, noise="exact"), H=20, S=6, A=2, K=50_000)
    >>> private.replace_one.epsilon <= 1, private.noise, private.basis
    (True, 'release', 'proven')
    """
    check_privatizer(privatizer)
    problem = Problem(whole("H", H, 1), whole("S", S, 1), whole("A", A, 1), whole("K", K, 1), beta=0.05)
    certificate = certificate_of(None, privatizer, problem, 1 if pooled else problem.H)  # type: ignore[arg-type]
    return guarantee(certificate, basis_of(privatizer, audit), per_person=per_person)


def basis_of(privatizer: Any, audit: Any = None) -> str:
    """Who says so: a proof, for the classes that privatizers/ offers by name; else the author of the class."""
    name = type(privatizer).__name__
    if audit is not None and getattr(audit, "privatizer", None) != name:
        raise InputError(f"audit: it must be the result of dp.audit for {name}")
    if audit is not None and audit.caught:
        raise InputError(f"audit: {name} is {audit.verdict}")
    if type(privatizer) in [getattr(privatizers, name) for name in privatizers.__all__]:
        return PROVEN
    return DECLARED if audit is None else AUDITED


def guarantee(
    certificate: Certificate,
    basis: str,
    unit: str | None = None,
    per_person: int = 1,
    further: tuple[str, ...] = (),
) -> Guarantee:
    """A certificate in full; `further` are assumptions that the caller adds."""
    check_name("privatizer.model", certificate.model, MODELS)
    of_her = certificate.group(whole("per_person", per_person, 1))
    replaced, apart = (
        Measures(of_her.epsilon(relation), of_her.mu(relation), of_her.rho(relation))
        for relation in ("replace_one", "add_remove")
    )
    usual, adversary, trusted = MODELS[certificate.model]
    if per_person > 1:
        usual = f"{per_person} trajectories of one person"
    once = f"a person is at most {'one user' if per_person == 1 else f'{per_person} users'}"
    assumptions = (trusted, NOISES[certificate.noise], *further, once, WORLD)
    return Guarantee(
        *(certificate.model, replaced, apart, of_her.delta, unit or usual, adversary),
        *(certificate.noise, basis, assumptions),
    )
