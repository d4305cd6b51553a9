"""Asks a person before it shares a file."""
import json, os

job = json.load(open(os.environ["HOLDFAST_JOB"]))
file = job["payload"]["file"]
decision = job["waits"].get("share")
if decision is None:
    wait = {"id": "share", "sort": "approval", "question": f"Share {file}?", "withinMs": 172_800_000}
    print("holdfast:", json.dumps({"suspend": wait}))
else:
    shared = decision["outcome"] == "APPROVED"
    print("holdfast:", json.dumps({"output": {"shared": shared, "by": decision.get("by")}}))
