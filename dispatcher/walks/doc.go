// Package walks decides which signals newer triggers supersede.
//
// A price signal is a state, so only the newest signal counts. A newer trigger of the
// organization supersedes an older signal if it covers the rest of the signal's window:
//
//   - It supersedes a retry, or a late slice, as soon as it is accepted. The newer signal
//     will reach every home, or record why not.
//   - It supersedes a first attempt once its walk reached the same slice Lead ago.
//     Otherwise triggers that follow faster than a walk takes would leave the last homes
//     without any signal.
//
// The log of triggers decides the order. The clocks of workers do not matter.
//
// walks may import events.
package walks
