"""The ns-3 HPCC simulator's files: its ``config.txt`` in, its ``fct.txt`` and ``pfc.txt`` out.

The formats are those of ``simulation/scratch/third.cc`` of alibaba-edu/High-Precision-Congestion-
Control. Reading order: :mod:`~penstock.hpcc.quantity` (rates and times),
:mod:`~penstock.hpcc.config` (keys of a config), :mod:`~penstock.hpcc.flow_file` (flows),
:mod:`~penstock.hpcc.scheme` (their meaning in Penstock), :mod:`~penstock.hpcc.case` (config,
topology and flows as a scenario), :mod:`~penstock.hpcc.ideal`, :mod:`~penstock.hpcc.output` (result
files), :mod:`~penstock.hpcc.compare` (two results side by side). What it is not: the behaviour of
that simulator, which is ``fidelity = "ns3-hpcc"`` of the core.
"""
