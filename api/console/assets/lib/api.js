// Calls to the API. Every operation is a POST of JSON. The key goes in a header and
// nowhere else.

/** Problem is an error of the API, or a missing response. */
export class Problem extends Error {
  constructor({ status = 0, error_code = "", message, recovery_action = "", field_errors = [], request_id = "", retry_after_seconds = 0 }) {
    super(message);
    this.name = "Problem";
    this.status = status;
    this.code = error_code;
    this.recovery = recovery_action;
    this.fields = field_errors;
    this.requestId = request_id;
    this.retryAfter = retry_after_seconds;
  }
}

/** unreachable is the problem of a server that did not respond. */
function unreachable() {
  return new Problem({
    error_code: "NO_ANSWER",
    message: "The server did not respond.",
    recovery_action: "Check that the server runs and that this computer can reach it. Then try again.",
  });
}

/** problemOf reads a response that is not a success, in any form. */
export async function problemOf(answer) {
  let body = null;
  try {
    body = JSON.parse(await answer.text());
  } catch {
    // A proxy between this page and the API responded.
  }
  if (body?.error_code) return new Problem({ ...body, status: answer.status });
  return new Problem({
    status: answer.status,
    error_code: `HTTP ${answer.status}`,
    message: "The response did not come from Gridhook.",
    recovery_action: "Check the proxies between this browser and Gridhook.",
    request_id: answer.headers.get("X-Request-Id") ?? "",
  });
}

/** refused returns the problem of a response. It tells the page when the key is not valid. */
async function refused(answer) {
  const problem = await problemOf(answer);
  if (problem.status === 401) document.dispatchEvent(new Event("gridhook:signed-out"));
  return problem;
}

/** idempotencyKey returns a new key. Every repeat of one request uses the same key. */
export function idempotencyKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return "console_" + Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
}

/** Client calls the API with one key, for one organization if it has a name. */
export class Client {
  constructor({ key, organization = "" }) {
    this.key = key;
    this.organization = organization;
  }

  /** call calls an operation and returns the response, or throws a Problem. */
  async call(path, input = {}, { signal, idempotencyKey: once, forOrganization = true } = {}) {
    const headers = { "Content-Type": "application/json", "x-ws-api-key": this.key };
    if (this.organization && forOrganization) headers["x-gridhook-organization"] = this.organization;
    if (once) headers["Idempotency-Key"] = once;
    const answer = await send(path, { method: "POST", headers, body: JSON.stringify(input), signal });
    if (!answer.ok) throw await refused(answer);
    return answer.json();
  }

  /**
   * may reports whether the key may call an operation. It sends no body, so that an
   * operation that changes something does nothing: the API checks the key, then the body.
   */
  async may(path) {
    const headers = { "x-ws-api-key": this.key };
    if (this.organization) headers["x-gridhook-organization"] = this.organization;
    const problem = await problemOf(await send(path, { method: "POST", headers }));
    if (problem.status === 401 || problem.status >= 500) throw problem;
    return problem.status !== 403;
  }

  /** text fetches a plain page of the listener, such as the metrics. */
  async text(path, { signal } = {}) {
    const answer = await send(path, { signal });
    if (!answer.ok) throw await problemOf(answer);
    return answer.text();
  }
}

async function send(path, init) {
  try {
    return await fetch(path, { ...init, credentials: "omit", cache: "no-store", redirect: "error" });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw unreachable();
  }
}

/** inPath is an identifier as a part of a path. */
export const inPath = encodeURIComponent;
