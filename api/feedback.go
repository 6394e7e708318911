package api

import (
	"context"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

func (s *server) feedback(ctx context.Context, c *rest.Call, in *wire.FeedbackInput) (wire.FeedbackReceipt, error) {
	f := storage.Feedback{ID: storage.NewID("fb_", c.Now), FeedbackForm: in.FeedbackForm, RequestID: c.RequestID}
	if err := c.Wrong.With(f.Validate()); err != nil {
		return wire.FeedbackReceipt{}, err
	}
	return rest.Idempotent(ctx, s.rest, c, storage.Shared, c.Client, f.ID, in, func(id string) (wire.FeedbackReceipt, error) {
		f.ID, f.CreatedAt.Time = id, s.Store.Now()
		f.UpdatedAt = f.CreatedAt
		if err := s.Feedback.PutFeedback(ctx, f); err != nil {
			return wire.FeedbackReceipt{}, err
		}
		receipt := wire.FeedbackReceipt{ID: id, Received: true, FollowUp: wire.FollowUp{ContactMethod: storage.ContactNone}}
		if in.Contact.WantsAnswer() {
			receipt.FollowUp = wire.FollowUp{Requested: true, ContactMethod: storage.ContactEmail}
		}
		return receipt, nil
	})
}

func (s *server) listFeedback(ctx context.Context, _ *rest.Call, in *wire.PageInput) (wire.Page[storage.Feedback], error) {
	list, err := s.Feedback.Feedback(ctx, in.After, in.Limit+1)
	return rest.NewPage(list, in.Limit, func(f *storage.Feedback) string { return f.ID }), err
}
