"""Real users: the door through which trajectories of people come in, and private policies go out.

    session.py   places, tickets and receipts; what may be shown
    course.py    what a session computes: batches, releases with exact noise, plans
    store.py     what it keeps on disk, and the log of its releases
    client.py    the user's half of the local model: her one answer leaves her device, and nothing else

What is promised and what is not: docs/real_users.md. A run (simulate.py) is a simulation of this session: it
counts, releases and plans by the same functions.
"""
