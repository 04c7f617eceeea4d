"""Real users: the door through which trajectories of people come in, and private policies go out.

    session.py   places, tickets and receipts; what may be shown
    course.py    what a session computes: batches, releases with exact noise, plans
    store.py     what it keeps on disk, and the log of its releases
    client.py    the user's half of the local model: her one answer leaves her device, and nothing else
    fit.py       one release of logged trajectories
    ledger.py    what was spent on which data

What is promised and what is not: docs/real_users.md.

A run (simulate.py) is a simulation of a session: what is measured is what is deployed. The two have no loop in
common, because a session is many calls with a disk between them and a run is one compiled kernel. They have in
common all that the loops call: `sanitised` and `add_user` count a user, the privatizer's `take` releases,
`process` and the agent's `plan` plan. With the same words and the same users, a session and a run with exact
noise give the same releases and the same policy for every user, to the bit (tests/unit/session).
"""
