// Package dispatcher delivers: it walks a trigger's homes in slices, prices each,
// signs and sends the webhooks, judges the answers, schedules what must be tried
// again, and stores a receipt before it lets go of a slice.
//
// The way of a slice reads as one line: plan -> successor -> payload -> sign ->
// send -> judge -> next -> receipt -> acknowledge. Judge and Next are pure.
//
// dispatcher may import events, storage and pricing; it never imports api.
package dispatcher
