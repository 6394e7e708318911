package jetstream

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Subjects are made of identifiers that storage.ValidID has checked, so none can
// add a token or a wildcard.
const (
	statePrefix     = "gridhook.state."
	triggerPrefix   = "gridhook.triggers."
	workPrefix      = "gridhook.work."
	retryWaitPrefix = "gridhook.retries.wait."
	retryDuePrefix  = "gridhook.retries.due."
	receiptPrefix   = "gridhook.receipts."
	knownPrefix     = "gridhook.known."

	stateSubjects     = statePrefix + ">"
	triggerSubjects   = triggerPrefix + ">"
	workSubjects      = workPrefix + ">"
	retryWaitSubjects = retryWaitPrefix + ">"
	retryDueSubjects  = retryDuePrefix + ">"
	receiptSubjects   = receiptPrefix + ">"
	knownSubjects     = knownPrefix + ">"
)

func stateSubject(r storage.Ref) string {
	return statePrefix + string(r.Kind) + "." + r.Org + "." + r.ID
}

func parseStateSubject(subject string) (storage.Ref, error) {
	parts := strings.Split(strings.TrimPrefix(subject, statePrefix), ".")
	if len(parts) != 3 {
		return storage.Ref{}, fmt.Errorf("%q is no subject of an entity", subject)
	}
	return storage.Ref{Kind: storage.Kind(parts[0]), Org: parts[1], ID: parts[2]}, nil
}

// triggerSubject is one place a trigger, or one a OnceKey, so that a second of
// that key meets the first, or one a schedule that runs when prices change, so that its
// last run is found.
func triggerSubject(t events.Trigger) string {
	switch {
	case t.OnceKey != "":
		return triggerPrefix + t.OrganizationID + ".once-" + t.OnceKey
	case t.ScheduleID != "":
		return triggerPrefix + t.OrganizationID + ".prices-" + t.ScheduleID
	}
	return triggerPrefix + t.OrganizationID + "." + t.ID
}

func sliceSubject(triggerID string, number int) string {
	return workPrefix + triggerID + "." + strconv.Itoa(number)
}

// retryTail is what the waiting and the due subject of a retry share, but for the lane
// of the due one: one place for the same retry put twice.
func retryTail(r *events.Retry) string { return r.Trigger.ID + "." + r.Key() }

func receiptSubject(org, triggerID, key string) string {
	return receiptPrefix + org + "." + triggerID + "." + key
}

func knownSubject(org, endpointID string, slice int) string {
	return knownPrefix + org + "." + endpointID + "." + strconv.Itoa(slice)
}
