package ledger

import (
	"context"

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
// the same time count.
func (s quotaLog) Accept(ctx context.Context, t events.Trigger) (uint64, error) {
	others := 0
	if t.Change == nil {
		others = s.ledger.beginAccept(t.OrganizationID)
		defer s.ledger.endAccept(t.OrganizationID)
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
	sequence, err := s.TriggerLog.Accept(ctx, t)
	if err != nil {
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
	_, err := s.admit(ctx, t, 0)
	return err
}

// admit is Admit beside a number of other triggers that are not stored yet. It returns what
// the organization uses with them.
func (s quotaLog) admit(ctx context.Context, t events.Trigger, others int) (used events.Usage, err error) {
	used, err = s.ledger.Usage(t.OrganizationID)
	if s.ledger.Behind() { // triggers whose receipts are not folded yet count as waiting
		used.Waiting, used.Notifying = 0, 0
	}
	used.Waiting += others
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

// beginAccept counts a trigger that is about to be accepted, and returns the number of others.
func (l *Ledger) beginAccept(org string) (others int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.accepting[org]++
	return l.accepting[org] - 1
}

func (l *Ledger) endAccept(org string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.accepting[org]--; l.accepting[org] == 0 {
		delete(l.accepting, org)
	}
}
