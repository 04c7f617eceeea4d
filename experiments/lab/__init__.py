"""The lab: settings to runs to results. It knows no figure and no paper."""
