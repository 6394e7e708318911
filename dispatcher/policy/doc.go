// Package policy holds the two pure decisions of delivery: Judge decides what a response
// means, and Next decides when the next attempt is made.
//
// policy may import storage for the retry policy's fields, and cenkalti/backoff.
package policy
