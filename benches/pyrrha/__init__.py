"""BFC beside an independent simulator, NASA-NJU/Pyrrha-NS3: flow by flow, choice by choice, pause
by pause.

`reference` reads what that simulator did, `case` builds the same run here, and `outcome` compares.
``tests/data/pyrrha-bfc`` has the runs and says how they were made.
"""
