package api

import (
	"context"
	"errors"

	"github.com/gridhook/gridhook/storage"
)

// feedbackInput is what anybody may tell the operator, without a key.
type feedbackInput struct{ storage.FeedbackForm }

func (in *feedbackInput) check(_ *server, c *call, p *problems) {
	f := storage.Feedback{ID: storage.NewID("fb_", c.now), FeedbackForm: in.FeedbackForm}
	_ = p.addError(f.Validate()) // nothing but field errors
}

// FeedbackReceipt says that a submission is stored durably.
type FeedbackReceipt struct {
	ID       string   `json:"feedback_id"`
	Received bool     `json:"received"`
	FollowUp FollowUp `json:"follow_up"`
}

// FollowUp says whether an answer was asked for, and how.
type FollowUp struct {
	Requested     bool                  `json:"requested"`
	ContactMethod storage.ContactMethod `json:"contact_method"`
}

func (s *server) feedback(ctx context.Context, c *call, in *feedbackInput) (FeedbackReceipt, error) {
	id := storage.NewID("fb_", c.now)
	return once(ctx, s, c, storage.Shared, c.client, id, in, func(id string) (FeedbackReceipt, error) {
		f := storage.Feedback{ID: id, FeedbackForm: in.FeedbackForm, RequestID: c.requestID}
		f.OrganizationID = storage.Shared
		if err := s.Store.Create(ctx, &f); err != nil && !errors.Is(err, storage.ErrExists) {
			return FeedbackReceipt{}, err
		}
		receipt := FeedbackReceipt{ID: id, Received: true, FollowUp: FollowUp{ContactMethod: storage.ContactNone}}
		if in.Contact.WantsAnswer() {
			receipt.FollowUp = FollowUp{Requested: true, ContactMethod: storage.ContactEmail}
		}
		return receipt, nil
	})
}

func (s *server) listFeedback(_ context.Context, _ *call, in *pageInput) (Page[storage.Feedback], error) {
	list, err := storage.List[storage.Feedback](s.Store, storage.KindFeedback, storage.Shared, in.After, in.Limit+1)
	return newPage(list, in.Limit, func(f *storage.Feedback) string { return f.ID }), err
}
