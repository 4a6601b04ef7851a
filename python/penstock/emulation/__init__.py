"""Scenarios in real time: real frames of real programs through the switches of a scenario.

:func:`penstock.emulation.running.emulate` starts a worker, a process of its own that makes network
namespaces for the hosts (:mod:`penstock.emulation.worker`), and makes a :class:`penstock.Run` of
what the worker leaves. :mod:`penstock.emulation.setting` has what is not in a scenario.
"""
