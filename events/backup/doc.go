// Package backup copies what Gridhook holds in NATS into one encrypted file, while
// everything runs, and puts it back.
//
// The file is encrypted with age (age-encryption.org/v1) for the holders of one or
// more keys. Inside is a gzipped tar:
//
//	manifest.json                    what this is, by whom and of when
//	streams/GRIDHOOK_STATE/00001.jsonl   messages, one JSON object a line
//	...
//	end.json                         how far each stream went, and the SHA-256 of every file
//
// A file without end.json is not whole. The order in which streams are copied keeps
// the copy consistent: first the retries, while those that are put meanwhile are
// noted, then the receipts, the triggers, and the state last. So each retry that a
// receipt speaks of is there, each receipt has its trigger, and each trigger the
// state that it was accepted at. What was delivered after its receipts were copied
// is delivered again, with the same webhook-id.
package backup
