package jetstream

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// A subject has the organization, the caller and the operation of its entries. All API keys
// are one caller. The stream limits the entries of each subject. So partners who repeat an
// operation remove only their own entries of that operation. An organization has less than 25
// such operations, and takes up to a quarter of the log.
const (
	auditStream = "GRIDHOOK_AUDIT"
	auditPrefix = "gridhook.audit."
)

// Limits of the audit log.
const (
	auditAge      = 365 * 24 * time.Hour
	mostAudit     = 1_000_000
	auditSubjects = 100 // divisor for the entries of a subject
	auditSize     = 4 << 10
	auditEntry    = 1 << 10 // the largest entry of an organization's API key
)

var _ storage.AuditLog = (*Conn)(nil)

// auditSubject returns the subject of entries. An empty token matches any.
func auditSubject(org, caller, operation string) string {
	return auditPrefix + cmp.Or(org, "*") + "." + cmp.Or(caller, "*") + "." + cmp.Or(operation, "*")
}

// auditCaller returns the caller of a key.
func auditCaller(keyID string) string {
	if storage.IsAPIKey(keyID) {
		return "partner"
	}
	return keyID
}

// PutAudit stores an entry and returns when it is durable.
func (c *Conn) PutAudit(ctx context.Context, e storage.AuditEntry) error {
	_, err := c.publish(ctx, auditSubject(cmp.Or(e.OrganizationID, storage.Shared), auditCaller(e.KeyID), e.Operation), e)
	return err
}

// auditID returns the identifier of the entry with a sequence. Identifiers sort like
// sequences.
func auditID(sequence uint64) string { return fmt.Sprintf("aud_%012d", sequence) }

// Audit lists entries, newest first. The server finds the next message of a subject, not
// the previous one. Audit therefore reads ranges of sequences, the newest range first,
// and widens a range after a range without entries.
func (c *Conn) Audit(ctx context.Context, f storage.AuditFilter, before string, limit int) ([]storage.AuditEntry, error) {
	info, err := c.streamInfo(ctx, auditStream)
	if err != nil {
		return nil, err
	}
	end := info.State.LastSeq + 1
	if before != "" {
		given, err := strconv.ParseUint(strings.TrimPrefix(before, "aud_"), 10, 64)
		if err != nil {
			return nil, &storage.InvalidError{Fields: []storage.FieldError{{Field: "after", Message: "must be the next of an earlier page"}}}
		}
		end = min(end, given)
	}
	if !f.Until.IsZero() {
		if end, err = c.auditAfter(ctx, info.State.FirstSeq, end, f.Until.Add(auditDelay)); err != nil {
			return nil, err
		}
	}
	const widen = 4
	list, span := []storage.AuditEntry{}, uint64(limit) //nolint:gosec // positive
	for end > info.State.FirstSeq && len(list) < limit {
		start := max(end-min(span, end), info.State.FirstSeq)
		found, passed, err := c.auditRange(ctx, f, start, end)
		if err != nil {
			return nil, err
		}
		if list = append(list, found...); passed {
			break
		}
		if end = start; len(found) == 0 {
			span *= widen
		}
	}
	return list[:min(limit, len(list))], nil
}

// auditDelay is how much newer an entry may be than an entry after it: the clocks of
// processes differ, and an entry has the time of its request.
const auditDelay = 15 * time.Minute

// auditAfter returns the sequence of the first entry after a time, from first to end, and
// end if there is none.
func (c *Conn) auditAfter(ctx context.Context, first, end uint64, at time.Time) (uint64, error) {
	for first < end {
		middle := first + (end-first)/2
		m, err := c.firstMessage(ctx, auditStream, auditPrefix+">", middle)
		if err != nil {
			return 0, err
		}
		if m == nil || m.Sequence >= end {
			end = middle
			continue
		}
		e, err := decodeAudit(m.Data, m.Sequence)
		if err != nil {
			e.Time.Time = m.Time // an entry is stored when its request ends
		}
		if e.Time.After(at) {
			end = middle
		} else {
			first = m.Sequence + 1
		}
	}
	return end, nil
}

// leftOut logs a message that does not decode. A list leaves the message out, because its
// caller needs the others.
func (c *Conn) leftOut(err error) { c.log.Error("stored record left out of a list", "error", err) }

func decodeAudit(data []byte, sequence uint64) (e storage.AuditEntry, err error) {
	if err := json.Unmarshal(data, &e); err != nil {
		return e, fmt.Errorf("the stored audit entry %d: %w", sequence, err)
	}
	e.ID = auditID(sequence)
	return e, nil
}

// auditRange returns the entries from start to before end, newest first. passed reports
// whether all earlier entries are from before the filter's Since. An entry has the time at
// which its request began, and may be stored much later.
func (c *Conn) auditRange(ctx context.Context, f storage.AuditFilter, start, end uint64) (list []storage.AuditEntry, passed bool, err error) {
	subject := auditSubject(f.OrganizationID, auditCaller(f.KeyID), f.Operation)
	for m, err := range c.scan(ctx, auditStream, subject, start, end) {
		if err != nil {
			return nil, false, err
		}
		e, err := decodeAudit(m.Data, m.Sequence)
		if err != nil {
			c.leftOut(err)
			continue
		}
		passed = passed || e.Time.Before(f.Since.Add(-auditDelay))
		if f.KeyID != "" && e.KeyID != f.KeyID {
			continue
		}
		if !e.Time.Before(f.Since.Time) && (f.Until.IsZero() || e.Time.Before(f.Until.Time)) {
			list = append(list, e)
		}
	}
	slices.Reverse(list)
	return list, passed, nil
}
