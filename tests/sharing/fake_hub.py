"""A Hugging Face Hub of one's own: a server on this machine that keeps what is committed to it."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

#: Keeps the client from asking for the same again and again.
_OID = "0" * 40


@dataclasses.dataclass
class FakeHub:
    """Repositories by name, each with its files by branch and path.

    Attributes:
        url: where it is.
        token: the token that may write.
        repositories: what was committed.
        private: repositories that were made as private ones.
        requests: method and path of each request, in order.
        refusal: status and body with which everything is refused.
    """

    url: str = ""
    token: str = "hf_sesame"
    repositories: dict[str, dict[str, dict[str, bytes]]] = dataclasses.field(default_factory=dict)
    private: set[str] = dataclasses.field(default_factory=set)
    requests: list[str] = dataclasses.field(default_factory=list)
    refusal: tuple[int, str] | None = None

    def answer(self, method, path, headers, body):
        """Status and JSON value that a request is answered with."""
        self.requests.append(f"{method} {path}")
        if self.refusal:
            return self.refusal
        if headers.get("Authorization") != f"Bearer {self.token}":
            return 401, {"error": f"Invalid credentials: {headers.get('Authorization')}"}
        for verb, pattern, reply in (
            ("POST", r"/api/repos/create", self._create),
            ("POST", r"/api/validate-yaml", lambda body: (200, {"errors": [], "warnings": []})),
            ("POST", r"/api/datasets/([^/]+/[^/]+)/preupload/(.+)", self._preupload),
            ("POST", r"/api/datasets/([^/]+/[^/]+)/commit/(.+)", self._commit),
            ("POST", r"/api/datasets/([^/]+/[^/]+)/branch/(.+)", self._branch),
            ("GET", r"/api/datasets/([^/]+/[^/]+)/tree/([^/?]+).*", self._tree),
            ("GET", r"/api/datasets/([^/]+/[^/]+)/revision/([^/?]+).*", self._info),
        ):
            if verb == method and (found := re.fullmatch(pattern, path.split("?")[0])):
                return reply(*found.groups(), body)  # type: ignore[operator]
        return 404, {"error": f"no such thing: {method} {path}"}

    def _create(self, body):
        asked = json.loads(body)
        name = f"{asked.get('organization') or 'me'}/{asked['name']}"
        status = 409 if name in self.repositories else 200
        if status == 200:
            self.repositories[name] = {"main": {".gitattributes": b""}}
            if asked.get("private") or asked.get("visibility") == "private":
                self.private.add(name)
        return status, {"url": f"{self.url}/datasets/{name}", "id": name}

    def _branch(self, name, branch, body):
        branches = self.repositories[name]
        status = 409 if branch in branches else 200
        branches.setdefault(branch, dict(branches["main"]))
        return status, {}

    def _preupload(self, name, branch, body):
        files = [
            {"path": file["path"], "uploadMode": "regular", "shouldIgnore": False}
            for file in json.loads(body)["files"]
        ]
        return 200, {"files": files}

    def _commit(self, name, branch, body):
        there = self.repositories[name][branch]
        for line in map(json.loads, body.splitlines()):
            if line["key"] == "file":
                there[line["value"]["path"]] = base64.b64decode(line["value"]["content"])
            elif line["key"] == "deletedFile":
                del there[line["value"]["path"]]
        url = f"{self.url}/datasets/{name}/commit/{_OID}"
        return 200, {"success": True, "commitOid": _OID, "commitUrl": url, "hookOutput": ""}

    def _tree(self, name, branch, body):
        files = self.repositories[name][branch]
        return 200, [
            {"type": "file", "path": path, "size": len(data), "oid": _OID}
            for path, data in files.items()
        ]

    def _info(self, name, branch, body):
        if branch not in self.repositories[name]:
            return 404, {"error": "no such revision"}
        files = [{"rfilename": path} for path in self.repositories[name][branch]]
        return 200, {"id": name, "sha": _OID, "siblings": files, "private": False, "tags": []}


@contextlib.contextmanager
def serve():
    """A hub that listens until the end of the block."""
    hub = FakeHub()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _reply(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, value = hub.answer(self.command, self.path, self.headers, body)
            data = value.encode() if isinstance(value, str) else json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_HEAD = do_PUT = _reply  # noqa: N815

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
