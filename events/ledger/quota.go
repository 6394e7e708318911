package ledger

import (
	"context"
	"math"
	"slices"

	"github.com/gridhook/gridhook/events"
)

// Log wraps a trigger log. Its Accept refuses triggers beyond the quota, and does not wait
// for the ledger. Queries of triggers wait until the ledger shows the accepted triggers.
func (l *Ledger) Log(log events.TriggerLog) events.TriggerLog { return quotaLog{log, l} }

type quotaLog struct {
	events.TriggerLog
	ledger *Ledger
}

// Accept stores a trigger within the quota. Price triggers of the organization that arrive at
// the same time or that the ledger does not show yet count.
func (s quotaLog) Accept(ctx context.Context, t events.Trigger) (sequence uint64, err error) {
	var others []string
	if t.Change == nil {
		others = s.ledger.beginAccept(&t)
		defer func() { s.ledger.endAccept(t.ID, sequence) }()
	}
	used, err := s.admit(ctx, t, others)
	if err != nil {
		return 0, err
	}
	waiting := used.Waiting
	if t.Change != nil {
		waiting += used.Notifying
	}
	t.Surplus = waiting >= events.SurplusFrom
	if sequence, err = s.TriggerLog.Accept(ctx, t); err != nil {
		return 0, err
	}
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	s.ledger.accepted = max(s.ledger.accepted, sequence)
	return sequence, nil
}

// Admit returns an error if the trigger is beyond the quota. The repeat of an accepted
// trigger stores nothing, so it is never beyond the quota. A change of an OpenADR object is
// not either: no later trigger makes up for its notification.
func (s quotaLog) Admit(ctx context.Context, t events.Trigger) error {
	_, err := s.admit(ctx, t, nil)
	return err
}

// admit is Admit beside other triggers of the organization that the ledger may not show. It
// returns what the organization uses with them.
func (s quotaLog) admit(ctx context.Context, t events.Trigger, others []string) (used events.Usage, err error) {
	used, err = s.ledger.usageWith(t.OrganizationID, others)
	if s.ledger.Behind() { // triggers whose receipts are not folded yet count as waiting
		used.Waiting, used.Notifying = 0, 0
	}
	if err != nil || t.Change != nil {
		return used, err
	}
	over := s.ledger.opt.Quota.Check(t.OrganizationID, used)
	if over == nil || t.IdempotencyKey == "" {
		return used, over
	}
	first, err := s.FirstRequest(ctx, t)
	if err != nil || first.ID != "" {
		return used, err
	}
	return used, over
}

// accepting is a trigger that is about to be accepted, or is stored but not shown. Its
// sequence is unstored before it is known.
type accepting struct {
	org, id  string
	sequence uint64
}

const unstored = math.MaxUint64

// beginAccept adds a trigger that is about to be accepted, and returns the others of its
// organization.
func (l *Ledger) beginAccept(t *events.Trigger) (others []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.accepting {
		if a.org == t.OrganizationID {
			others = append(others, a.id)
		}
	}
	l.accepting = append(l.accepting, accepting{t.OrganizationID, t.ID, unstored})
	return others
}

// endAccept says at which sequence a trigger is stored, or 0 if it is not. The trigger counts
// until the ledger shows it.
func (l *Ledger) endAccept(id string, sequence uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.accepting {
		if l.accepting[i].id == id {
			l.accepting[i].sequence = sequence
		}
	}
	l.dropFolded(l.triggers)
}

// dropFolded drops the stored triggers up to a sequence. The caller holds mu.
func (l *Ledger) dropFolded(sequence uint64) {
	l.accepting = slices.DeleteFunc(l.accepting, func(a accepting) bool { return a.sequence != unstored && a.sequence <= sequence })
}
