"""The audit: how much of a declared ε can be got out of what a privatizer releases, anyone's. `dp.audit`.

    worlds     two runs that differ in one user, and who else she might have been
    replay     the noise moved so that nothing changes: the privacy loss, without a trial
    trials     the same run again and again, compiled where it can be
    attack     a region chosen on some trials, a bound from others: the attack on what is released
    scores     what an attack weighs
    message    the law of a local message, enumerated
    actions    the attack on the policies that the other users are shown

A bound of an attack is too large with probability at most attack.ALPHA. That it is small proves nothing; that
it is above what is certified proves the certificate wrong.
"""
