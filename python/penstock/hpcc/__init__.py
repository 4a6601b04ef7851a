"""The ns-3 HPCC simulator's files: its ``config.txt`` in, its ``fct.txt`` and ``pfc.txt`` out.

The format is that of ``simulation/scratch/third.cc`` of alibaba-edu/High-Precision-Congestion-
Control. Reading order: :mod:`~penstock.hpcc.quantity` (its texts), :mod:`~penstock.hpcc.config`
(its keys), :mod:`~penstock.hpcc.scheme` (what they mean here), :mod:`~penstock.hpcc.case` (config,
topology and flows as a scenario), :mod:`~penstock.hpcc.ideal`, :mod:`~penstock.hpcc.output` (its
result files), :mod:`~penstock.hpcc.compare` (two results side by side). What it is not: the
behaviour of that simulator, which is ``fidelity = "ns3-hpcc"`` of the core.
"""
