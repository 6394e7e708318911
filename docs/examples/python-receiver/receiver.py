#!/usr/bin/env python3
"""Receives a partner's webhooks. It verifies each, processes each message once, and stores
the newest signal of every home. It needs only Python 3.9.

    GRIDHOOK_WEBHOOK_SECRET=whsec_... ADDRESS=127.0.0.1:9090 python3 receiver.py
"""

import base64
import hashlib
import hmac
import json
import os
import sys
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX_BODY = 8 << 20  # bytes: a month of quarter hours fits
TOLERANCE = 300  # seconds: the largest age of a timestamp


class Unverified(Exception):
    """The signature is wrong, or the timestamp is too old or too new."""


def verify(secret, headers, body, now=None):
    """Verify a delivery by the rules of Standard Webhooks, or raise Unverified.

    body has the received bytes: JSON that was decoded and encoded again differs. The
    package standardwebhooks does the same.
    """
    message_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    signatures = headers.get("webhook-signature", "")
    if not (message_id and timestamp and signatures):
        raise Unverified("a header is missing")
    try:
        age = (time.time() if now is None else now) - int(timestamp)
    except ValueError:
        raise Unverified("webhook-timestamp is not a number") from None
    key = base64.b64decode(secret.removeprefix("whsec_"))
    content = f"{message_id}.{timestamp}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest())
    # During a rotation there are several. Each is compared in constant time.
    if not any([hmac.compare_digest(expected, s.encode()) for s in signatures.split(" ")]):
        raise Unverified("no signature matches this secret")
    if abs(age) > TOLERANCE:
        raise Unverified(f"webhook-timestamp is {age:.0f} s old")


def messages(message_id, body):
    """Return the message of a verified body, or the messages of a batch, with identifiers.

    An endpoint with compression gets gzip bodies, one with a batchSize gets batches.
    """
    if body[:2] == b"\x1f\x8b":
        body = zlib.decompressobj(31).decompress(body, MAX_BODY)
    event = json.loads(body)
    if event["type"] == "price_signal.batch":
        return [(part["webhookId"], part) for part in event["data"]]
    return [(message_id, event)]


class Signals:
    """The processed messages. A real program has both in its database, and writes them in
    one transaction."""

    def __init__(self):
        self.lock = threading.Lock()
        self.seen = set()  # by webhook-id
        self.newest = {}  # by home

    def apply(self, message_id, event):
        with self.lock:
            if message_id in self.seen:
                return  # a retry, because the response was lost
            if event["type"] == "price_signal.updated":  # accept and ignore other types, including future ones
                signal = event["data"]
                home, sequence = signal["homeId"], signal["sequence"]
                if sequence > self.newest.get(home, {"sequence": 0})["sequence"]:  # an older one may arrive later
                    self.newest[home] = signal
                    print(f"{home} has signal {sequence}", flush=True)
            self.seen.add(message_id)


class Server(ThreadingHTTPServer):
    request_queue_size = 256  # waiting connections: many homes arrive at once
    daemon_threads = True


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # reuses connections
    timeout = 60  # seconds

    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        path = self.path.partition("?")[0]
        if path != "/hooks" or length > MAX_BODY:
            self.close_connection = True  # the body stays unread
            return self.answer(404 if path != "/hooks" else 413)
        body = self.rfile.read(length)
        try:
            verify(SECRET, self.headers, body)
            for message_id, event in messages(self.headers["webhook-id"], body):
                SIGNALS.apply(message_id, event)
        except Unverified as error:
            return self.answer(401, str(error))
        except (ValueError, KeyError, TypeError, zlib.error) as error:
            return self.answer(400, str(error))
        self.answer(204)  # only now: Gridhook retries after any other response

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
        """Log no line for each request."""


if __name__ == "__main__":
    SECRET = os.environ.get("GRIDHOOK_WEBHOOK_SECRET")
    if SECRET in (None, "", "whsec_"):  # everyone could sign with an empty secret
        sys.exit("set GRIDHOOK_WEBHOOK_SECRET to the secret of the endpoint")
    SIGNALS = Signals()
    host, port = os.environ.get("ADDRESS", "127.0.0.1:9090").split(":")
    server = Server((host, int(port)), Handler)
    print(f"listening on http://{host}:{server.server_port}/hooks", flush=True)
    server.serve_forever()
