// Package ledger folds triggers and receipts into the progress of each trigger and the
// outcome of each delivery. It stores the result in a bbolt file. The file, like the
// replica, can be deleted and is then rebuilt.
package ledger
