#!/usr/bin/env python3
"""A model for tests: an OpenAI-compatible server that says what it was told to say, streamed if asked.

    tests/trainers/model.py PORT ANSWER...     one answer after the other, then from the first again
"""

import http.server
import itertools
import json
import sys
import threading

WORDS = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    answers = itertools.cycle(["42"])
    lock = threading.Lock()

    def do_GET(self):
        self.answer({"object": "list", "data": [{"id": "fake", "object": "model", "owned_by": "tests"}]})

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.lock:
            text = next(self.answers)
        whole = {"id": "said", "created": 1, "model": asked.get("model", "fake")}
        said = {"role": "assistant", "content": text}
        if not asked.get("stream"):
            choice = {"index": 0, "message": said, "finish_reason": "stop"}
            self.answer(whole | {"object": "chat.completion", "choices": [choice], "usage": WORDS})
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        part = whole | {"object": "chat.completion.chunk"}
        for delta, why in ((said, None), ({}, "stop")):
            self.event(part | {"choices": [{"index": 0, "delta": delta, "finish_reason": why}]})
        self.event(part | {"choices": [], "usage": WORDS})
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def event(self, value):
        self.wfile.write(f"data: {json.dumps(value)}\n\n".encode())

    def answer(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    port, *answers = sys.argv[1:]
    if answers:
        Model.answers = itertools.cycle(answers)
    http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), Model).serve_forever()
