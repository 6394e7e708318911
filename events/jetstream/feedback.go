package jetstream

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gridhook/gridhook/storage"
)

const (
	feedbackStream = "GRIDHOOK_FEEDBACK"
	feedbackPrefix = "gridhook.feedback."
)

var _ storage.FeedbackLog = (*Conn)(nil)

// PutFeedback stores a submission and returns when it is durable. It ignores a submission
// that is already stored.
func (c *Conn) PutFeedback(ctx context.Context, f storage.Feedback) error {
	_, err := c.publishNew(ctx, feedbackPrefix+f.ID, f)
	return err
}

// DeleteFeedback overwrites a submission.
func (c *Conn) DeleteFeedback(ctx context.Context, id string) error {
	err := storage.ErrNotFound
	if failed := c.eraseSubject(ctx, feedbackStream, feedbackPrefix+id, func(string) { err = nil }); failed != nil {
		return failed
	}
	return err
}

// Feedback lists submissions in the order in which they were stored. The identifiers of
// concurrent submissions may have another order. So the list continues at the position of
// after, and compares identifiers only if that submission is gone.
func (c *Conn) Feedback(ctx context.Context, after string, limit int) ([]storage.Feedback, error) {
	list, next, gone := []storage.Feedback{}, uint64(1), false
	if after != "" {
		last, err := c.lastMessage(ctx, feedbackStream, feedbackPrefix+after)
		if err != nil {
			return nil, err
		}
		if gone = last == nil; !gone {
			next = last.Sequence + 1
		}
	}
	for m, err := range c.messages(ctx, feedbackStream, feedbackPrefix+">", next) {
		if err != nil {
			return nil, err
		}
		if len(list) == limit {
			break
		}
		var f storage.Feedback
		if err := json.Unmarshal(m.Data, &f); err != nil {
			c.leftOut(fmt.Errorf("the stored submission %s: %w", m.Subject, err))
			continue
		}
		if !gone || f.ID > after {
			list = append(list, f)
		}
	}
	return list, nil
}
