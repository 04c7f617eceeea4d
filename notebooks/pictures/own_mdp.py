"""The picture of 04_your_own_mdp that dp.plot does not draw."""

from pictures import canvas, picture, write_into_cells


@picture
def best_exercise(Q_star, V_star):
    """The best action of every step and level."""
    H, S, _ = Q_star.shape
    best = Q_star.argmax(axis=-1).T
    figure = canvas(7, 3.2)
    axes = figure.subplots()
    image = axes.imshow(best, cmap="Greys", vmin=-0.5, vmax=1.5, origin="lower", aspect="auto")
    write_into_cells(axes, image, [["hard" if hard else "easy" for hard in row] for row in best])
    axes.set(xlabel="step", ylabel="level", xticks=range(H), xticklabels=range(1, H + 1), yticks=range(S))
    axes.set_title(f"The best exercise; the value at the start is {V_star[0, 0]:.2f}")
    return figure
