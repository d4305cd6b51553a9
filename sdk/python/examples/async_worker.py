import asyncio

from holdfast import Worker

worker = Worker("mail", concurrency=500)


@worker.handler("send-mail")
async def send(payload: dict[str, str]) -> dict[str, str]:
    await asyncio.sleep(0.1)
    return {"to": payload["to"]}


if __name__ == "__main__":
    worker.run()
