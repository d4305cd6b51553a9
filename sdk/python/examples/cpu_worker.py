import hashlib

from holdfast import Worker

worker = Worker("compute", concurrency=4)


@worker.handler("stretch", process=True)
def stretch(payload: dict[str, str]) -> str:
    return hashlib.pbkdf2_hmac("sha256", payload["text"].encode(), b"salt", 500_000).hex()


if __name__ == "__main__":
    worker.run()
