package jetstream

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// Subjects consist of identifiers that storage.ValidID has checked. So no identifier can
// add a token or a wildcard.
const (
	statePrefix     = "gridhook.state."
	triggerPrefix   = "gridhook.triggers."
	workPrefix      = "gridhook.work."
	surplusPrefix   = workPrefix + "surplus."
	retryWaitPrefix = "gridhook.retries.wait."
	retryDuePrefix  = "gridhook.retries.due."
	receiptPrefix   = "gridhook.receipts."
	knownPrefix     = "gridhook.known."
	walkPrefix      = "gridhook.walks."
	deadPrefix      = "gridhook.dead."
)

func stateSubject(r storage.Ref) string {
	return statePrefix + string(r.Kind) + "." + r.Org + "." + r.ID
}

// parseStateSubject parses the subject of an entity with any prefix.
func parseStateSubject(subject string) (storage.Ref, error) {
	_, rest, _ := strings.Cut(subject, ".state.")
	parts := strings.Split(rest, ".")
	if len(parts) != 3 {
		return storage.Ref{}, fmt.Errorf("%q is no subject of an entity", subject)
	}
	return storage.Ref{Kind: storage.Kind(parts[0]), Org: parts[1], ID: parts[2]}, nil
}

// triggerSubject returns the subject of a trigger. A trigger with an idempotency key
// shares the key's subject, so a repeated request finds the first. A trigger of a
// schedule that runs when prices change shares the schedule's subject, so the last run
// can be found. Every other trigger has its own subject.
func triggerSubject(t events.Trigger) string {
	switch {
	case t.IdempotencyKey != "":
		return triggerPrefix + t.OrganizationID + ".once-" + t.IdempotencyKey
	case t.ScheduleID != "":
		return triggerPrefix + t.OrganizationID + ".prices-" + t.ScheduleID
	}
	return triggerPrefix + t.OrganizationID + "." + t.ID
}

// sliceSubject returns the subject of a slice. The slices of surplus triggers have one token
// more, so that each of the two queues can select its own.
func sliceSubject(t *events.Trigger, number int) string {
	prefix := workPrefix
	if t.Surplus {
		prefix = surplusPrefix
	}
	return prefix + t.ID + "." + strconv.Itoa(number)
}

// retryTail returns the common end of a retry's waiting and due subjects. The due subject
// has its lane before it. A repeated retry has the same subjects.
func retryTail(r *events.Retry) string { return r.Trigger.ID + "." + r.Key() }

func receiptSubject(org, triggerID, key string) string {
	return receiptPrefix + org + "." + triggerID + "." + key
}

func knownSubject(org, endpointID string, slice int) string {
	return knownPrefix + org + "." + endpointID + "." + strconv.Itoa(slice)
}
