"""The regret bounds of the paper's Table 1, each once, as data: cells, numbers and exponents come from here.

A bound is a sum of terms S^a A^b H^c T^d / ε^e, some of it under a root, up to logarithms and constants (both
left out of its number). Rows in the paper's order; then what its table does not have: UCBVI, and the
lower bounds with privacy.

    *  PUCB's bound as discussed by Chowdhury & Zhou (2022).
    †  LDP-OBI's own bound is for a stationary MDP; √H more in the first term makes it the one stated.
    ‡  The same for UCBVI, whose own bounds are √(SAH²T) and √(SAHT).
"""

from fractions import Fraction
from typing import NamedTuple

LETTERS = ("S", "A", "H", "T")
SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


class Sizes(NamedTuple):
    """Where a bound is evaluated; ε is infinite without privacy."""

    S: int
    A: int
    H: int
    T: int
    epsilon: float


class Powers(NamedTuple):
    """S^S A^A H^H T^T."""

    S: int = 0
    A: int = 0
    H: int = 0
    T: int = 0

    def text(self) -> str:
        return "".join(
            x if n == 1 else x + str(n).translate(SUPERSCRIPTS) for x, n in zip(LETTERS, self, strict=True) if n
        )


class Term(NamedTuple):
    """outside · √root / ε^private."""

    root: Powers
    outside: Powers = Powers()
    private: int = 0  # 1: the cost of privacy

    @property
    def exponents(self) -> dict[str, Fraction]:
        """Of S, A, H, T and 1/ε."""
        powers = {x: out + Fraction(under, 2) for x, out, under in zip(LETTERS, *self[1::-1], strict=True)}
        return {**powers, "1/ε": Fraction(self.private)}

    def value(self, at: Sizes) -> float:
        number, exponents = 1.0, self.exponents
        for x in LETTERS:
            number *= float(getattr(at, x)) ** float(exponents[x])
        return number / at.epsilon**self.private

    def text(self) -> str:
        root = f"√({self.root.text()})" if any(self.root) else ""
        return self.outside.text() + root + "/ε" * self.private


class Bound(NamedTuple):
    """Õ(sum of terms) or Ω(sum of terms), with the mark of its footnote."""

    terms: tuple[Term, ...]
    mark: str = ""
    order: str = "Õ"  # or Ω, Ω̃

    def value(self, at: Sizes) -> float:
        """The sum with every constant 1 and no logarithms."""
        return sum(term.value(at) for term in self.terms)

    def text(self) -> str:
        return f"{self.order}({' + '.join(term.text() for term in self.terms)}){self.mark}"


class Row(NamedTuple):
    """A row of the table; a bound of None is the paper's NA."""

    agent: str  # in AGENTS; empty for a lower bound
    name: str
    source: str
    jdp: Bound | None
    ldp: Bound | None
    bonus: str
    none: Bound | None = None  # without privacy
    reconstructed: bool = False
    printed: bool = True  # in the paper's table

    def bound(self, model: str) -> Bound | None:
        return {"JDP": self.jdp, "LDP": self.ldp, "none": self.none}[model]


SAH2T = Term(Powers(1, 1, 2, 1))
SAH3T = Term(Powers(1, 1, 3, 1))
S2AH3T = Term(Powers(2, 1, 3, 1))
CENTRAL_COST = Term(Powers(), Powers(2, 1, 3), private=1)  # S²AH³/ε
LOCAL_COST = Term(Powers(H=5, T=1), Powers(2, 1), private=1)  # S²A√(H⁵T)/ε


def _rates(leading: Term, jdp_mark: str = "", ldp_mark: str = "") -> tuple[Bound, Bound]:
    """All of Table 1's private bounds have the same cost of privacy."""
    return Bound((leading, CENTRAL_COST), jdp_mark), Bound((leading, LOCAL_COST), ldp_mark)


VIETRI = "Vietri et al., ICML 2020"
GARCELON = "Garcelon et al., NeurIPS 2021"
CHOWDHURY = "Chowdhury & Zhou, AAAI 2022"
QIAO = "Qiao & Wang, AISTATS 2023"
NASH = "Qiao & Wang, 2024"
AZAR = "Azar et al., ICML 2017"
DRAGO = "Drago et al., 2025"

ROWS = (
    Row("pucb", "PUCB", VIETRI, _rates(S2AH3T, jdp_mark="*")[0], None, "Hoeffding"),
    Row(
        "ldp_obi",
        "LDP-OBI",
        GARCELON,
        None,
        _rates(S2AH3T, ldp_mark="†")[1],
        "Hoeffding",
        reconstructed=True,
    ),
    Row("private_ucb_po", "Private-UCB-PO", CHOWDHURY, *_rates(S2AH3T), "Hoeffding", reconstructed=True),
    Row("private_ucb_vi", "Private-UCB-VI", CHOWDHURY, *_rates(SAH3T), "Hoeffding", reconstructed=True),
    Row("dp_ucbvi", "DP-UCBVI", QIAO, *_rates(SAH2T), "Bernstein"),
    Row("ucbvi_ch", "UCBVI-CH", AZAR, None, None, "Hoeffding", Bound((SAH3T,), "‡"), printed=False),
    Row("ucbvi_bf", "UCBVI-BF", AZAR, None, None, "Bernstein", Bound((SAH2T,), "‡"), printed=False),
    Row("ucbvi_refined", "UCBVI, refined", DRAGO, None, None, "Bernstein", Bound((SAH2T,), "‡"), False, False),
)
BY_AGENT = {row.agent: row for row in ROWS}

_LOWER = Bound((SAH2T,), order="Ω")
LOWER_BOUND = Row("", "Lower bound without DP", "Jin et al., NeurIPS 2018", _LOWER, _LOWER, "NA", _LOWER)
PRIVATE_LOWER_BOUND = Row(
    "",
    "Lower bound with DP",
    NASH,
    Bound((SAH2T, Term(Powers(), Powers(1, 1, 1), private=1)), order="Ω̃"),  # HSA/ε
    Bound((SAH2T, Term(Powers(1, 1, 1, 1), private=1)), order="Ω̃"),  # √(HSAT)/ε
    "NA",
    printed=False,
)
