// Package tester sends the webhook.test event to an endpoint at once. Users test a new
// endpoint with it.
//
// tester may import the dispatcher's packages except dispatcher itself, and events and
// storage.
package tester
