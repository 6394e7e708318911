// The secret or public key with which a receiver verifies signatures.
import { showSecret } from "../lib/dialog.js";

/** showVerifier shows the secret of an endpoint. An endpoint without a secret has a public key. */
export function showVerifier(endpoint, title) {
  const until = "A replaced one stays valid for 24 hours.";
  if (endpoint.secret) {
    return showSecret({
      title, label: "Signing secret", secret: endpoint.secret,
      text: `The receiver verifies signatures with this secret. Gridhook does not show it again. ${until}`,
    });
  }
  return showSecret({
    title, label: "Public key", secret: endpoint.publicKey,
    text: `The receiver verifies signatures with this key. It is not secret. ${until}`,
  });
}
