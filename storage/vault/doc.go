// Package vault seals the secrets that endpoints sign with, so that they are
// never at rest or in transit in clear: AES-256-GCM with the organization and the
// endpoint as associated data.
package vault
