from holdfast import Holdfast, Job

with Holdfast() as holdfast:
    job = Job("resize", {"width": 640}, queue="media", unique_key="cat.png")
    holdfast.enqueue(job)
    print(holdfast.result(job.id, timeout=60))
