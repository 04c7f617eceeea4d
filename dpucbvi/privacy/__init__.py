"""Privacy in numbers, and the randomness that buys it; no privatizer is among them.

certificate  what a run certifies           sensitivity  how far one user moves the counters
accounting   between measures of privacy, and rounding that never promises too much
law          Laplace or Gaussian noise: its scale, its tail, what it certifies, in floats or exactly
laplace, gaussian, draws                    seeded noise in floating point, for experiments
exact, words                                integer noise from the system's generator, for publication
"""
