"""The audit: how much of a claimed ε an attacker gets out of what the compiled engine releases.

    released   two worlds that differ in one user; the attacker sees all that is released
    one_run    the local model, one run: a coin decides every user's data, the attacker guesses the coins
    actions    two worlds again; the attacker sees the policies of all the other users and nothing else (JDP as
               Definition 2.2 has it)

Each gives a lower bound on ε that is too large with probability at most bounds.ALPHA. It is the bound of one
attack: that it is small proves nothing, that it is above what is certified would prove the certificate wrong.
broken.py has releases that are wrong on purpose and must be caught.
"""
