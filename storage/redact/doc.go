// Package redact masks secrets in texts that are stored, logged or shown: errors of sources
// and responses of receivers.
//
// redact may import storage.
package redact
