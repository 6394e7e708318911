// Package app wires Gridhook: the same rooms for every role, in one process
// (serve) or apart (api, worker). Each part that starts registers its stop at
// once, and stops run in reverse.
package app
