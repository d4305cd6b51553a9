from holdfast import JobContext, Worker

worker = Worker("books")


@worker.handler("ingest")
def ingest(payload: dict[str, str], ctx: JobContext) -> int:
    words = ctx.step("fetch", payload["text"].split)
    lengths = ctx.step("embed", lambda: [len(word) for word in words])
    return ctx.step("store", sum, lengths)


if __name__ == "__main__":
    worker.run()
