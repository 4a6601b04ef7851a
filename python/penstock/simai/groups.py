"""Which ranks talk to each other in a training job.

The groups are those of ``MockNcclGroup`` in aliyun/SimAI, with one stage of the pipeline. Tensor
parallel ranks are neighbours. Data parallel ranks have the same place in their tensor groups.
Experts are spread over `ep` neighbouring tensor groups; the ranks that hold the same experts are
`ep` tensor groups apart. Invariant: the groups of a kind have every rank once.
"""

from __future__ import annotations

from penstock.simai.workload import Group, Workload


def groups_of(workload: Workload) -> dict[Group, list[list[int]]]:
    """By kind: the groups, each with its ranks in the order of the ring."""
    tensor, experts = workload.tensor_parallel, workload.expert_parallel
    tensor_groups = workload.data_parallel
    places = range(tensor)
    return {
        "tp": [[one * tensor + place for place in places] for one in range(tensor_groups)],
        "dp": [[one * tensor + place for one in range(tensor_groups)] for place in places],
        "ep": [
            [one * tensor + place for one in range(first, first + experts)]
            for first in range(0, tensor_groups, experts)
            for place in places
        ],
        "dp_ep": [
            [one * tensor + place for one in range(first, tensor_groups, experts)]
            for first in range(experts)
            for place in places
        ],
    }
