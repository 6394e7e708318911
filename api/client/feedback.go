package client

import (
	"context"

	"github.com/gridhook/gridhook/storage"
)

// FeedbackReceipt says that a submission is stored durably.
type FeedbackReceipt struct {
	ID       string `json:"feedback_id"`
	Received bool   `json:"received"`
	FollowUp struct {
		Requested     bool                  `json:"requested"`
		ContactMethod storage.ContactMethod `json:"contact_method"`
	} `json:"follow_up"`
}

// SubmitFeedback submits feedback or a question. It takes no key. An idempotency
// key makes a repeat return the first answer, for 24 h; it may be empty.
func (c *Client) SubmitFeedback(ctx context.Context, f storage.FeedbackForm, idempotencyKey string) (FeedbackReceipt, error) {
	return call[FeedbackReceipt](ctx, c, "/v1/feedback", f, once(idempotencyKey)...)
}

// Feedback lists what was submitted. Operator only.
func (c *Client) Feedback(ctx context.Context, p Page) (items []storage.Feedback, next string, err error) {
	return list[storage.Feedback](ctx, c, "/v1/admin/feedback/list", p)
}
