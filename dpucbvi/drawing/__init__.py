"""How regret is drawn. Everything here needs matplotlib: dp.plot imports it when it is called."""
