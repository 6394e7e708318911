// Package backup copies Gridhook's data in NATS into one encrypted file and restores it.
// A backup needs no downtime.
//
// The file is encrypted with age (age-encryption.org/v1) for the holders of one or more
// keys. Inside is a gzipped tar:
//
//	manifest.json                    format, Gridhook version and time
//	streams/GRIDHOOK_STATE/00001.jsonl   messages, one JSON object a line
//	...
//	end.json                         the end of each stream, and the SHA-256 of every file
//
// A file without end.json is incomplete. The order of the streams keeps the copy
// consistent: first the retries, then the receipts, the triggers, and the state last.
// Retries that arrive during the copy are recorded too. So every retry of a receipt is in
// the backup, every receipt has its trigger, and every trigger has its state. A delivery
// made after its receipts were copied is repeated with the same webhook-id.
package backup
