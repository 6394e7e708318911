// Package ledger folds the triggers and the receipts into what people ask of
// them: how far a trigger has come, and what became of each home. It keeps the
// result in a bbolt file that, like the replica, can be deleted and is rebuilt.
package ledger
