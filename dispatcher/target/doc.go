// Package target prepares the stored webhook endpoints for sending. It decrypts their
// secrets, and keeps the gate's state of each endpoint.
//
// target may import the dispatcher's packages except dispatcher itself, and events and
// storage.
package target
