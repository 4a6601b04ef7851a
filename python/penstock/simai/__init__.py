"""Training workloads of SimAI as scenarios: ``penstock import-simai``.

What it is: the reader of SimAI's text (:mod:`.workload`), who belongs to which group
(:mod:`.groups`), the messages of collectives (:mod:`.collective`), the program that all ranks
follow (:mod:`.training`), and the files that are written (:mod:`.case`). What it is not: a model of
a GPU; computation takes the times that the text gives. Sources: aliyun/SimAI,
``astra-sim-alibabacloud/astra-sim/workload/Workload.cc`` and ``Layer.cc`` (the text and the order),
``system/MockNcclGroup.cc`` (the groups). Where next: ``docs/simai.md``.
"""
