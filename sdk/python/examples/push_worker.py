import os
from wsgiref.simple_server import make_server

from holdfast import Worker

worker = Worker()
worker.handler("echo")(lambda payload: payload)
receiver = worker.push(os.environ["DISPATCH_SECRET"])
asgi, wsgi = receiver.asgi, receiver.wsgi

if __name__ == "__main__":
    make_server("127.0.0.1", int(os.environ["PORT"]), wsgi).serve_forever()
