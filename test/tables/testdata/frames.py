"""Prints the content of a run's data frames: python3 frames.py DIRECTORY."""

import json
import sys

import cairn

run = cairn.load(sys.argv[1])
print(
    json.dumps(
        {
            "rows": {name: len(run.table(name)) for name in cairn.TABLES},
            "calls": run.time_by_function()["calls"].astype(int).to_dict(),
            "bytes": run.communication_matrix().to_numpy().tolist(),
            "messages": run.communication_matrix("messages").to_numpy().tolist(),
            "waiting_ns": int(run.waits_by_cause()["waiting_ns"].sum()),
            "waiting_ns_of_calls": int(run.time_by_function()["waiting_ns"].sum()),
            "exact": bool((run.calls["exit_ns"] - run.calls["enter_ns"] == run.calls["duration_ns"]).all()),
            "members": run.communicators["members"][0],
            "types": {name: str(kind) for name, kind in run.calls.dtypes.items()},
        }
    )
)
