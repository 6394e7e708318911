// Asking the API. Every operation is a POST of JSON; the key goes in a header and
// nowhere else.

/** Problem is an error as the API tells it, or the want of an answer. */
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

/** unreachable is the problem of no answer at all. */
function unreachable() {
  return new Problem({
    error_code: "NO_ANSWER",
    message: "The server did not answer.",
    recovery_action: "Check that it runs and that this machine reaches it, then try again.",
  });
}

/** problemOf reads an answer that is no success, of whatever form. */
export async function problemOf(answer) {
  let body = null;
  try {
    body = JSON.parse(await answer.text());
  } catch {
    // Something between here and the API answered in its place.
  }
  if (body?.error_code) return new Problem({ ...body, status: answer.status });
  return new Problem({
    status: answer.status,
    error_code: `HTTP ${answer.status}`,
    message: "The answer is not one of Gridhook's.",
    recovery_action: "Check what stands between this browser and Gridhook.",
    request_id: answer.headers.get("X-Request-Id") ?? "",
  });
}

/** refused tells the page, too, when it is the key that is not valid. */
async function refused(answer) {
  const problem = await problemOf(answer);
  if (problem.status === 401) document.dispatchEvent(new Event("gridhook:signed-out"));
  return problem;
}

/** idempotencyKey is new each time, and the same for each repeat of one request. */
export function idempotencyKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return "console_" + Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
}

/** Client asks with one key, for one organization if one is named. */
export class Client {
  constructor({ key, organization = "" }) {
    this.key = key;
    this.organization = organization;
  }

  /** call asks for an operation and returns what it answers, or throws a Problem. */
  async call(path, input = {}, { signal, idempotencyKey: once, forOrganization = true } = {}) {
    const headers = { "Content-Type": "application/json", "x-ws-api-key": this.key };
    if (this.organization && forOrganization) headers["x-gridhook-organization"] = this.organization;
    if (once) headers["Idempotency-Key"] = once;
    const answer = await send(path, { method: "POST", headers, body: JSON.stringify(input), signal });
    if (!answer.ok) throw await refused(answer);
    return answer.json();
  }

  /**
   * may reports whether the key may ask for an operation that wants a body. None
   * is sent: the API judges the key before the body, so that nothing is done.
   */
  async may(path) {
    const headers = { "x-ws-api-key": this.key };
    if (this.organization) headers["x-gridhook-organization"] = this.organization;
    const problem = await problemOf(await send(path, { method: "POST", headers }));
    if (problem.status === 401 || problem.status >= 500) throw problem;
    return problem.status !== 403;
  }

  /** text fetches one of the listener's plain pages, such as the metrics. */
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
