"""The one error a user can cause: a bad input, told in one line."""


class InputError(ValueError):
    """A value the user gave is not accepted; the message names the key and what is accepted."""
