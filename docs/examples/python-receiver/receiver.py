#!/usr/bin/env python3
"""A partner's webhooks: verifies each, takes each message once, and keeps the newest
signal of every home. It needs Python 3.9 and nothing else.

    GRIDHOOK_WEBHOOK_SECRET=whsec_... ADDRESS=127.0.0.1:9090 python3 receiver.py
"""

import base64
import hashlib
import hmac
import json
import os
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX_BODY = 8 << 20  # bytes: a month of quarter hours fits
TOLERANCE = 300  # seconds that a timestamp may be from now


class Unverified(Exception):
    """The delivery is not by whom it says, or not of now."""


def verify(secret, headers, body, now=None):
    """Verify a delivery as Standard Webhooks says, or raise Unverified.

    body is bytes, as they came: JSON that was read and written again has another
    signature. The package standardwebhooks does the same.
    """
    message_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    signatures = headers.get("webhook-signature", "")
    if not (message_id and timestamp and signatures):
        raise Unverified("a header is missing")
    try:
        age = (time.time() if now is None else now) - int(timestamp)
    except ValueError:
        raise Unverified("webhook-timestamp is no number") from None
    key = base64.b64decode(secret.removeprefix("whsec_"))
    content = f"{message_id}.{timestamp}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest())
    # Several while a secret is rotated; each is compared in constant time.
    if not any([hmac.compare_digest(expected, s.encode()) for s in signatures.split(" ")]):
        raise Unverified("no signature is made with this secret")
    if abs(age) > TOLERANCE:
        raise Unverified(f"webhook-timestamp is {age:.0f} s old")


def messages(message_id, body):
    """The message that a verified body is, or those of a batch, each with its identifier.

    An endpoint with compression gets bodies that begin as gzip does, one with a
    batchSize gets its signals in batches.
    """
    if body[:2] == b"\x1f\x8b":
        body = zlib.decompressobj(31).decompress(body, MAX_BODY)
    event = json.loads(body)
    if event["type"] == "price_signal.batch":
        return [(part["webhookId"], part) for part in event["data"]]
    return [(message_id, event)]


class Signals:
    """What was taken. A real program has both in its database, and writes them in one
    transaction."""

    def __init__(self):
        self.lock = threading.Lock()
        self.seen = set()  # by webhook-id
        self.newest = {}  # by home

    def apply(self, message_id, event):
        with self.lock:
            if message_id in self.seen:
                return  # an attempt whose answer was lost
            if event["type"] == "price_signal.updated":  # others are taken and left alone, also those to come
                signal = event["data"]
                home, sequence = signal["homeId"], signal["sequence"]
                if sequence > self.newest.get(home, {"sequence": 0})["sequence"]:  # an older one may come later
                    self.newest[home] = signal
                    print(f"{home} has signal {sequence}", flush=True)
            self.seen.add(message_id)


class Server(ThreadingHTTPServer):
    request_queue_size = 256  # connections that wait: many homes come at once
    daemon_threads = True


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections are used again
    timeout = 60  # seconds

    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        if self.path != "/hooks" or length > MAX_BODY:
            self.close_connection = True  # the body stays unread
            return self.answer(404 if self.path != "/hooks" else 413)
        body = self.rfile.read(length)
        try:
            verify(SECRET, self.headers, body)
            for message_id, event in messages(self.headers["webhook-id"], body):
                SIGNALS.apply(message_id, event)
        except Unverified as error:
            return self.answer(401, str(error))
        except (ValueError, KeyError, TypeError, zlib.error) as error:
            return self.answer(400, str(error))
        self.answer(204)  # only now: whatever is not 2xx comes again

    def do_GET(self):
        if self.path != "/signals":
            return self.answer(404)
        with SIGNALS.lock:
            self.answer(200, json.dumps(SIGNALS.newest), "application/json")

    def answer(self, status, text="", kind="text/plain"):
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        """Requests are not worth a line each."""


if __name__ == "__main__":
    SECRET = os.environ["GRIDHOOK_WEBHOOK_SECRET"]
    SIGNALS = Signals()
    host, port = os.environ.get("ADDRESS", "127.0.0.1:9090").split(":")
    server = Server((host, int(port)), Handler)
    print(f"listening on http://{host}:{server.server_port}/hooks", flush=True)
    server.serve_forever()
