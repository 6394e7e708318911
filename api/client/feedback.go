package client

import (
	"context"

	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

// FeedbackReceipt confirms that a submission is stored durably.
type FeedbackReceipt = wire.FeedbackReceipt

// SubmitFeedback submits feedback or a question. It needs no API key. A repeat with the
// same idempotency key within 24 h gets the first response. idempotencyKey may be empty.
func (c *Client) SubmitFeedback(ctx context.Context, f storage.FeedbackForm, idempotencyKey string) (FeedbackReceipt, error) {
	return Call[FeedbackReceipt](ctx, c, "/v1/feedback", f, idempotencyKey)
}

// Feedback lists the submitted feedback. Operator only.
func (c *Client) Feedback(ctx context.Context, p Page) (items []storage.Feedback, next string, err error) {
	return List[storage.Feedback](ctx, c, "/v1/admin/feedback/list", p)
}
