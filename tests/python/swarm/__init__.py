"""Random scenarios over everything that a scenario can be, and the demands on each run of them."""
