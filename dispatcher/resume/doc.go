// Package resume resumes walks whose next slice was lost by the queue.
//
// resume may import events.
package resume
