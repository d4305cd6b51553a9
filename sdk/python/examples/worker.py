from holdfast import JobContext, Worker

worker = Worker("media")


@worker.handler("resize")
def resize(payload: dict[str, int], ctx: JobContext) -> dict[str, int]:
    for percent in range(0, 100, 20):
        ctx.check_cancelled()
        ctx.progress(percent, f"to {payload['width']} px")
    return {"width": payload["width"]}


if __name__ == "__main__":
    worker.run()
