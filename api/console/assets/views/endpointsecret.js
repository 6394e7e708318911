// What a receiver verifies signatures with, shown once.
import { showSecret } from "../lib/dialog.js";

/** showVerifier shows the secret of an endpoint that was just made, or where it has none, its public key. */
export function showVerifier(endpoint, title) {
  const until = "One that it replaces goes on signing beside it for 24 hours.";
  if (endpoint.secret) {
    return showSecret({
      title, label: "Signing secret", secret: endpoint.secret,
      text: `Give this secret to the receiver, which verifies signatures with it. It is not shown again. ${until}`,
    });
  }
  return showSecret({
    title, label: "Public key", secret: endpoint.publicKey,
    text: `Give this key to the receiver, which verifies signatures with it. It is no secret. ${until}`,
  });
}
