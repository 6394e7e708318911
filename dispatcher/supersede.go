package dispatcher

import (
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// superseded returns the outcome of a superseded job. ok is false if no newer trigger
// supersedes the job.
func (w *Worker) superseded(j *job) (d events.Delivery, ok bool) {
	if !j.Signals() {
		return d, false
	}
	by := w.walks.SupersededBy(j.place, j.Signal.RatePlanID, w.Now())
	if by == "" {
		return d, false
	}
	return events.Delivery{
		MessageID: j.ID, HomeID: j.Signal.HomeID, EndpointID: j.target.ID,
		Outcome: events.OutcomeSuperseded, Attempt: j.attempt - 1, At: storage.Time{Time: w.Store.Now()},
		Reason: "superseded by the newer trigger " + by,
	}, true
}

// supersede returns the jobs that no newer trigger supersedes, and the outcomes of the
// superseded jobs.
func (w *Worker) supersede(jobs []job) (left []job, outcomes []events.Delivery) {
	left = jobs[:0]
	for i := range jobs {
		if d, ok := w.superseded(&jobs[i]); ok {
			outcomes = append(outcomes, d)
		} else {
			left = append(left, jobs[i])
		}
	}
	return left, outcomes
}
