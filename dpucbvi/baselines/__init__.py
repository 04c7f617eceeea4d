"""The algorithms DP-UCBVI is compared with, one file each, from their own papers."""
