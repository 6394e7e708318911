package storage

import (
	"cmp"
	"context"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// SubscriptionPrefix begins the identifiers of subscriptions and of their callbacks'
// endpoints.
const SubscriptionPrefix = "sub_"

// CallbackID returns the endpoint identifier of callback n.
func (o *OpenADRObject) CallbackID(n int) string {
	if n == 0 {
		return o.ID
	}
	return o.ID + "-" + strconv.Itoa(n)
}

// Endpoint returns callback n as a webhook endpoint, so that the dispatcher delivers to
// callbacks and endpoints alike.
func (o *OpenADRObject) Endpoint(n int) WebhookEndpoint {
	e := NewWebhookEndpoint(o.OrganizationID)
	c := &o.Callbacks[n]
	e.ID, e.URL, e.SealedURL, e.Description = o.CallbackID(n), c.URL, c.SealedURL, "OpenADR subscription of "+o.Name
	e.Enabled, e.Disabled, e.Base = o.Disabled == nil && !o.Removed, o.Disabled, o.Base
	if c.Sealed != "" {
		e.Authentication = &Authentication{Type: AuthenticationBearer, Sealed: c.Sealed}
	}
	return e
}

// BreakerID identifies the endpoint's breaker in its organization. It is the endpoint's own
// identifier. The callbacks to one server share a breaker, which has the server's name.
func (e *WebhookEndpoint) BreakerID() string {
	if !strings.HasPrefix(e.ID, SubscriptionPrefix) {
		return e.ID
	}
	u, err := url.Parse(e.URL)
	if err != nil { // nothing is sent there
		return e.ID
	}
	return ServerOf(u)
}

// ServerOf returns the name of a URL's server: scheme, host and port.
func ServerOf(u *url.URL) string {
	standard := "80"
	if u.Scheme == "https" {
		standard = "443"
	}
	return u.Scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), cmp.Or(u.Port(), standard))
}

// endpointRef returns the record that contains an endpoint, and the endpoint's number
// among the record's callbacks, -1 if the identifier is none of CallbackID.
func endpointRef(org, id string) (ref Ref, callback int) {
	if !strings.HasPrefix(id, SubscriptionPrefix) {
		return KindWebhookEndpoint.Ref(org, id), 0
	}
	of, n, numbered := strings.Cut(id, "-")
	if callback, _ = strconv.Atoi(n); numbered && (callback <= 0 || strconv.Itoa(callback) != n) {
		callback = -1
	}
	return OpenADRRef(OpenADRSubscription, org, of), callback
}

// FindEndpoint returns the record of an endpoint or callback. The record's ID is the
// endpoint's own identifier. Errors: ErrNotFound.
func FindEndpoint(v View, org, id string) (Record, error) {
	ref, _ := endpointRef(org, id)
	r, err := v.Get(ref)
	r.ID = id
	return r, err
}

// DecodeEndpoint decodes a record of FindEndpoint. Errors: ErrNotFound, *DecodeError.
func DecodeEndpoint(r Record) (WebhookEndpoint, error) {
	ref, n := endpointRef(r.Org, r.ID)
	if ref.Kind != r.Kind || r.Kind == KindWebhookEndpoint {
		return Decode[WebhookEndpoint](r)
	}
	o, err := Decode[OpenADRObject](r)
	if err == nil && (n < 0 || n >= len(o.Callbacks)) {
		err = ErrNotFound
	}
	if err != nil {
		return WebhookEndpoint{}, err
	}
	return o.Endpoint(n), nil
}

// GetEndpoint returns an endpoint or callback. Errors: ErrNotFound, *DecodeError.
func GetEndpoint(s *Store, org, id string) (WebhookEndpoint, error) {
	return Query(s, func(v View) (e WebhookEndpoint, err error) {
		r, err := FindEndpoint(v, org, id)
		if err == nil {
			e, err = DecodeEndpoint(r)
		}
		return e, NotFound(err, KindWebhookEndpoint.Ref(org, id))
	})
}

// ListEndpoints returns up to limit endpoints of an organization with identifiers after
// the given identifier. Webhook endpoints come first, then the callbacks of OpenADR
// subscriptions. It passes the error of a record that does not decode to damaged and goes on.
func ListEndpoints(v View, org, after string, limit int, damaged func(error)) (list []WebhookEndpoint, err error) {
	if !strings.HasPrefix(after, SubscriptionPrefix) {
		if list, err = ReadList[WebhookEndpoint](v, KindWebhookEndpoint, org, after, limit, damaged); err != nil || len(list) >= limit {
			return list, err
		}
		after = ""
	}
	add := func(r Record, from int) (more bool) {
		o, err := Decode[OpenADRObject](r)
		if err != nil && !r.Deleted {
			damaged(err)
		}
		for n := from; err == nil && !o.Removed && n < len(o.Callbacks) && len(list) < limit; n++ {
			list = append(list, o.Endpoint(n))
		}
		return len(list) < limit
	}
	if after != "" {
		subscription, shown := endpointRef(org, after)
		after = subscription.ID
		if first, err := v.Get(subscription); err == nil {
			add(first, shown+1)
		}
	}
	err = v.Scan(KindOpenADRSubscription, org, after, func(r Record) bool { return add(r, 0) })
	return list, err
}

// UpdateEndpoint enables or disables an endpoint, or the subscription of a callback.
// Errors: as of Update.
func UpdateEndpoint(ctx context.Context, s *Store, org, id string, change func(*WebhookEndpoint) error) error {
	ref, n := endpointRef(org, id)
	if ref.Kind == KindWebhookEndpoint {
		_, err := Update(ctx, s, ref, change)
		return err
	}
	_, err := Update(ctx, s, ref, func(o *OpenADRObject) error {
		if n < 0 || n >= len(o.Callbacks) {
			return ErrNotFound
		}
		e := o.Endpoint(n)
		if err := change(&e); err != nil {
			return err
		}
		o.Disabled = e.Disabled
		return nil
	})
	return err
}
