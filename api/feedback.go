package api

import (
	"context"
	"net/url"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/storage"
)

func (s *server) feedback(ctx context.Context, c *rest.Call, in *wire.FeedbackInput) (wire.FeedbackReceipt, error) {
	f := storage.Feedback{ID: storage.NewID("fb_", c.Now), FeedbackForm: in.FeedbackForm, RequestID: c.RequestID}
	if f.Check(&c.Wrong); c.Wrong.Err() != nil {
		return wire.FeedbackReceipt{}, c.Wrong.Err()
	}
	return rest.Idempotent(ctx, s.rest, c, f.ID, in, func(id string) (wire.FeedbackReceipt, error) {
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

// deleteFeedback erases a submission.
func (s *server) deleteFeedback(ctx context.Context, c *rest.Call, _ *struct{}) (wire.Deleted, error) {
	return deleted(c, s.Feedback.DeleteFeedback(ctx, c.ID))
}

// feedbackAbout returns the identifiers of the submissions that may be about an
// organization: their text has its identifier, its name or the host of an endpoint. It
// returns none for an organization that is deleted already.
func (s *server) feedbackAbout(ctx context.Context, org string) (ids []string, err error) {
	o, err := storage.Get[storage.Organization](s.Store, storage.OrganizationRef(org))
	if err != nil {
		return nil, nil //nolint:nilerr // the deletion reports it
	}
	words, err := storage.Query(s.Store, func(v storage.View) ([]string, error) { return endpointHosts(v, org) })
	words = append(words, org, o.Name)
	const page = 100
	for after, more := "", true; more && err == nil; {
		var list []storage.Feedback
		list, err = s.Feedback.Feedback(ctx, after, page)
		for i := range list {
			if after = list[i].ID; list[i].Mentions(words) {
				ids = append(ids, after)
			}
		}
		more = len(list) == page
	}
	return ids, err
}

// endpointHosts returns the hosts of an organization's endpoints. It leaves out records
// that do not decode.
func endpointHosts(v storage.View, org string) (hosts []string, err error) {
	for r, err := range storage.Live(v, storage.KindWebhookEndpoint, org, "") {
		if err != nil {
			return hosts, err
		}
		e, err := storage.Decode[storage.WebhookEndpoint](r)
		if u, wrong := url.Parse(e.URL); err == nil && wrong == nil && u.Host != "" {
			hosts = append(hosts, u.Hostname())
		}
	}
	return hosts, nil
}
