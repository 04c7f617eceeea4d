"""Figures are drawn in these tests as everywhere: in the style of the house."""

import pytest

from dpucbvi.drawing.style import house_style


@pytest.fixture(autouse=True, scope="session")
def style():
    with house_style():
        yield
