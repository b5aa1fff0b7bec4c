"""A model server for tests: OpenAI's chat interface on 127.0.0.1, with answers by a function."""

import contextlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextlib.contextmanager
def serve(answer, models=("tiny",), key=None, listed=None, requests=None):
    """The base URL of a server that answers messages by `answer`, for a `with` block.

    Args:
        answer: called with the messages of a request. What it returns is a reply; or bytes, the
            whole body of the response; or a status, or a pair of a status and a dict of headers,
            for a response that is an error.
        models: the models that the server has.
        key: the key that requests must have; None for none.
        listed: the models that it names; None for all that it has.
        requests: a list that takes the body of each request.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            named = [{"id": name} for name in (models if listed is None else listed)]
            self.send(200, json.dumps({"object": "list", "data": named}).encode())

        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if requests is not None:
                requests.append(request)
            if key is not None and self.headers["Authorization"] != f"Bearer {key}":
                self.send(401, error(f"Incorrect API key: {self.headers['Authorization']}"))
                return
            said = answer(request["messages"]) if request["model"] in models else 404
            if isinstance(said, bytes):
                self.send(200, said)
            elif isinstance(said, int):
                self.send(said, error("The server is not well."))
            elif isinstance(said, tuple):
                self.send(said[0], error("Slower, please."), said[1])
            else:
                self.send(200, completion(request["model"], said))

        def send(self, status, body, headers=()):
            with contextlib.suppress(OSError):  # the client may have gone
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                for name, value in dict(headers).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *_):
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True  # a stalled reply must not hold up the test
    server.block_on_close = False
    server.handle_error = lambda *_: None  # clients may break off
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def completion(model, text):
    """The body of a chat completion."""
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return json.dumps(
        {
            "id": "chatcmpl-0",
            "object": "chat.completion",
            "created": 0,
            "model": model,
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": usage,
        }
    ).encode()


def error(text):
    return json.dumps({"error": {"message": text, "type": "invalid_request_error"}}).encode()
