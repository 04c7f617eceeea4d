"""The picture of 05_real_users."""

from pictures import canvas, picture


@picture
def released(counts, true):
    """What was released of the visits of each pair, beside what was recorded."""
    S, A = true.shape
    names = [f"state {s}, treatment {a}" for s in range(S) for a in range(A)]
    figure = canvas(7, 3.2)
    axes = figure.subplots()
    at = range(S * A)
    axes.barh([i - 0.2 for i in at], true.ravel(), 0.4, color="lightgrey", label="recorded: never shown")
    axes.barh([i + 0.2 for i in at], counts.ravel(), 0.4, color="black", label="released")
    axes.set(yticks=list(at), yticklabels=names, xlabel="visits, all steps together")
    axes.invert_yaxis()
    axes.legend()
    axes.set_title("What may be shown of the visits")
    return figure
