"""Axes that can be read."""

from lotor.core.plotting import new_figure, number_log_axis


def test_a_range_below_ten_has_more_than_one_number() -> None:
    figure = new_figure()
    (axes,) = figure.axes
    axes.set(yscale="log", ylim=(1.5, 9))
    number_log_axis(axes.yaxis)
    figure.draw_without_rendering()
    shown = [tick.label1.get_text() for tick in axes.yaxis.get_major_ticks() if tick.get_visible()]
    assert {"2", "5"} <= set(shown)
