package jetstream

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/gridhook/gridhook/storage"
)

// Erase overwrites an organization's records in STATE and its waiting tasks. All other
// streams remove their messages by age.
func (l StateLog) Erase(ctx context.Context, org string) (map[storage.Kind]int, error) {
	erased := map[storage.Kind]int{}
	for _, part := range []struct{ stream, subject string }{
		{tasksStream, taskWaitPrefix + "*." + org + ".>"},
		{stateStream, statePrefix + "*." + org + ".*"},
		{stateStream, stateSubject(storage.OrganizationRef(org))},
	} {
		err := l.c.eraseSubject(ctx, part.stream, part.subject, func(subject string) {
			if ref, err := parseStateSubject(subject); err == nil && part.stream == stateStream {
				erased[ref.Kind]++
			}
		})
		if err != nil {
			return erased, err
		}
	}
	return erased, nil
}

// eraseSubject overwrites the messages of a stream on a subject and passes each message's
// subject to count.
func (c *Conn) eraseSubject(ctx context.Context, stream, subject string, count func(string)) error {
	s, err := c.handle(ctx, stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	if s.CachedInfo().Config.DenyDelete {
		return storage.ErrNotErasable
	}
	for m, err := range c.messages(ctx, stream, subject, 1) {
		if err != nil {
			return err
		}
		if m.Header.Get(jetstream.ScheduleHeader) != "" {
			// The server lists the subjects of schedules in a file of its own, and takes a
			// subject off the list for a message without a schedule. The next round erases it.
			if _, err := c.publish(ctx, m.Subject, nil); err != nil {
				return err
			}
		}
		if err := s.SecureDeleteMsg(ctx, m.Sequence); err != nil {
			// A task may have become due, and another process may erase the same organization.
			if _, gone := s.GetMsg(ctx, m.Sequence); !errors.Is(gone, jetstream.ErrMsgNotFound) {
				return fmt.Errorf("%w: erase a message of %s: %w", storage.ErrUnavailable, stream, err)
			}
		}
		count(m.Subject)
	}
	return nil
}
