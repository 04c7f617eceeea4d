"""The regret bounds of the paper's Table 1, each once, as the paper writes it: its number is read off its text.

A bound is a sum of terms like S²A√(H⁵T)/ε, up to logarithms and constants (both left out of its number). Rows
in the order of the paper; then what its table does not have: UCBVI, and the lower bounds with privacy.

    *  PUCB's bound as discussed by Chowdhury & Zhou (2022).
    †  LDP-OBI's own bound is for a stationary MDP; √H more in the first term makes it the one stated.
    ‡  The same for UCBVI, whose own bounds are √(SAH²T) and √(SAHT).
"""

import re
from fractions import Fraction
from math import prod
from typing import NamedTuple

SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
TERM = re.compile(r"(?P<outside>[^√/]*)(√\((?P<root>.*)\))?(?P<cost>/ε)?")  # the cost of privacy


class Sizes(NamedTuple):
    """Where a bound is evaluated; ε is infinite without privacy."""

    S: int
    A: int
    H: int
    T: int
    epsilon: float


class Bound(NamedTuple):
    """Õ(sum of terms) or Ω(sum of terms), with the mark of its footnote."""

    text: str

    @property
    def terms(self) -> list[dict[str, Fraction]]:
        """The exponents of S, A, H, T and 1/ε in every term."""
        inside = self.text[self.text.index("(") + 1 : self.text.rindex(")")]
        return [_exponents(term) for term in inside.split(" + ")]

    def value(self, at: Sizes) -> float:
        """The sum with every constant 1 and no logarithms."""
        sizes = {**at._asdict(), "1/ε": 1.0 / at.epsilon}
        return sum(prod(float(sizes[x]) ** float(n) for x, n in term.items()) for term in self.terms)


def _exponents(term: str) -> dict[str, Fraction]:
    found = TERM.fullmatch(term)
    assert found is not None, f"{term} is no term of a bound"
    powers = dict.fromkeys(("S", "A", "H", "T"), Fraction(0))
    for part, share in ((found["outside"], Fraction(1)), (found["root"] or "", Fraction(1, 2))):
        for letter, power in re.findall(r"([SAHT])([⁰¹²³⁴⁵⁶⁷⁸⁹]*)", part):
            powers[letter] += share * int(power.translate(DIGITS) or 1)
    return {**powers, "1/ε": Fraction(found["cost"] is not None)}


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


VIETRI = "Vietri et al., ICML 2020"
GARCELON = "Garcelon et al., NeurIPS 2021"
CHOWDHURY = "Chowdhury & Zhou, AAAI 2022"
QIAO = "Qiao & Wang, AISTATS 2023"
NASH = "Qiao & Wang, 2024"
AZAR = "Azar et al., ICML 2017"
DRAGO = "Drago et al., 2025"

PUCB_JDP = Bound("Õ(√(S²AH³T) + S²AH³/ε)*")
OBI_LDP = Bound("Õ(√(S²AH³T) + S²A√(H⁵T)/ε)†")
PO_JDP, PO_LDP = Bound("Õ(√(S²AH³T) + S²AH³/ε)"), Bound("Õ(√(S²AH³T) + S²A√(H⁵T)/ε)")
VI_JDP, VI_LDP = Bound("Õ(√(SAH³T) + S²AH³/ε)"), Bound("Õ(√(SAH³T) + S²A√(H⁵T)/ε)")
DP_JDP, DP_LDP = Bound("Õ(√(SAH²T) + S²AH³/ε)"), Bound("Õ(√(SAH²T) + S²A√(H⁵T)/ε)")
CH, BF, LOWER = Bound("Õ(√(SAH³T))‡"), Bound("Õ(√(SAH²T))‡"), Bound("Ω(√(SAH²T))")
LOWER_JDP, LOWER_LDP = Bound("Ω̃(√(SAH²T) + SAH/ε)"), Bound("Ω̃(√(SAH²T) + √(SAHT)/ε)")

ROWS = (
    Row("pucb", "PUCB", VIETRI, PUCB_JDP, None, "Hoeffding"),
    Row("ldp_obi", "LDP-OBI", GARCELON, None, OBI_LDP, "Hoeffding", reconstructed=True),
    Row("private_ucb_po", "Private-UCB-PO", CHOWDHURY, PO_JDP, PO_LDP, "Hoeffding", reconstructed=True),
    Row("private_ucb_vi", "Private-UCB-VI", CHOWDHURY, VI_JDP, VI_LDP, "Hoeffding", reconstructed=True),
    Row("dp_ucbvi", "DP-UCBVI", QIAO, DP_JDP, DP_LDP, "Bernstein"),
    Row("ucbvi_ch", "UCBVI-CH", AZAR, None, None, "Hoeffding", CH, printed=False),
    Row("ucbvi_bf", "UCBVI-BF", AZAR, None, None, "Bernstein", BF, printed=False),
    Row("ucbvi_refined", "UCBVI, refined", DRAGO, None, None, "Bernstein", BF, printed=False),
)
BY_AGENT = {row.agent: row for row in ROWS}
LOWER_BOUND = Row("", "Lower bound without DP", "Jin et al., NeurIPS 2018", LOWER, LOWER, "NA", LOWER)
PRIVATE_LOWER_BOUND = Row("", "Lower bound with DP", NASH, LOWER_JDP, LOWER_LDP, "NA", printed=False)
