// Package vault seals the secrets of endpoints, so that they are never stored or sent in
// the clear. It uses AES-256-GCM with the organization and the endpoint as associated
// data.
package vault
