// Package app wires Gridhook: the same packages for every role, in one process (serve) or
// in several (api, worker). Each part registers its stop function when it starts. The
// stop functions run in reverse order.
package app
