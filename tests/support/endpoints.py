"""A server in this process that answers like an OpenAI-compatible endpoint, by a script."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def completion(content, **more):
    choice = {"index": 0, "message": {"role": "assistant", "content": content}} | more
    return 200, json.dumps({"model": "toy-2026-01-31", "choices": [choice]}), {}


class Script(ThreadingHTTPServer):
    """Gives its answers in turn and then repeats the last one; `asked` holds the requests.

    An answer is (status, body, headers). Status None never answers, 0 hangs up during the answer.
    """

    daemon_threads = True

    def __init__(self, answers):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = answers
        self.asked = []
        self.released = threading.Event()

    @property
    def base_url(self):
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append((self.path, dict(self.headers), json.loads(body)))
        count = len(self.server.asked)
        status, said, headers = self.server.answers[min(count, len(self.server.answers)) - 1]
        if status is None:
            self.server.released.wait(10)
            return
        self.send_response(status or 200)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(said.encode()) + (status == 0)))
        self.end_headers()
        self.wfile.write(said.encode())

    do_GET = do_POST

    def log_message(self, *args):
        pass


@contextmanager
def serving(*answers):
    server = Script(answers)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        thread.join()
        server.server_close()
