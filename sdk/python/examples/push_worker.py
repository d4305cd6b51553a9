import os
from wsgiref.simple_server import make_server

from holdfast import Worker

worker = Worker()
worker.handler("echo")(lambda payload: payload)

if __name__ == "__main__":
    receiver = worker.push(os.environ["DISPATCH_SECRET"])
    make_server("127.0.0.1", int(os.environ["PORT"]), receiver.wsgi).serve_forever()
