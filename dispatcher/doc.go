// Package dispatcher walks a trigger's homes in slices, prices each home, sends the
// webhooks, and records their outcomes before it acknowledges a slice.
//
// walkSlice in slice.go shows the steps of a slice in order: done already -> admit ->
// read homes -> enqueue the next slice -> price -> supersede -> unchanged -> deliver ->
// record. The caller acknowledges. admit, price, skip, deliver and record have files of
// their names, which a slice enters in this order; outcome.go concludes a request. The
// questions that steps ask have packages of their own:
//
//	walks     does a newer trigger supersede this signal?
//	gate      may a request to this endpoint go now?
//	webhook   the bytes: message, batch, compression, signature
//	send      the wire: one POST, the destination guard, the HTTP client
//	policy    what a response means, and when a retry is made; pure
//	target    the stored endpoints, made ready to send to
//	resume, tester, tracing   lost slices, test events, spans
//
// Slices take turns by organization, so no organization takes all slots of a worker.
// The queues hand out slices in order of arrival. Surplus triggers have a queue of their own.
// A worker takes as many slices of each queue as it has slots. [turns.Turns] gives
// each free slot to the next organization and its oldest slice. A slice that waits
// for its turn has not begun, so it takes little memory and a crash repeats nothing of it.
//
// dispatcher may import events, storage and pricing; it never imports api.
package dispatcher
