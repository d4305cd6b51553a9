def worker_exit(server: object, process: object) -> None:
    from push_worker import worker

    worker.close()
