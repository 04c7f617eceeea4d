"""The errors that a user is told in one line."""


class InputError(ValueError):
    """A value the user gave is not accepted; the message names the key and what is accepted."""


class LpError(ArithmeticError):
    """The LP of Eq. (4) was not solved, or the engine's solution is not the solver's."""
