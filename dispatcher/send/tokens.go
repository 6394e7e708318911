package send

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/gridhook/gridhook/dispatcher/send/httpclient"
	"github.com/gridhook/gridhook/storage"
)

// Limits of requests for access tokens.
const (
	// tokenTimeout is the timeout of one request for a token. The endpoint's timeout also
	// applies to each webhook that waits for the token.
	tokenTimeout = 10 * time.Second
	// tokenAhead is how long before its expiry a token is replaced.
	tokenAhead = 30 * time.Second
	// tokenPause is the delay after a failed request. The failure applies to all webhooks
	// that wait for the token.
	tokenPause = time.Second
	// renewEvery is the minimum interval between replacements of refused tokens. A
	// destination that refuses every token must not cause a request for each home.
	renewEvery = time.Minute
	// maxToken limits a token, in bytes, because the token is a header.
	maxToken = 8 << 10
)

// errToken says that no access token is available for a request.
var errToken = errors.New("no access token")

// Tokens provides the access token of one endpoint. It requests a token with client
// credentials (RFC 6749, 4.4), one at a time and for all webhooks together.
type Tokens struct {
	config clientcredentials.Config

	mu       sync.Mutex
	current  string
	began    time.Time
	ends     time.Time // expiry, zero if the authority gave none
	failed   error
	failedAt time.Time
	renewed  time.Time     // time of the last replacement of a refused token
	asking   chan struct{} // closed at the end of the current request, nil without a request
}

// NewTokens returns the Tokens for an endpoint's OAuth 2.0 credentials.
func NewTokens(a *storage.Authentication, secret string) *Tokens {
	t := &Tokens{config: clientcredentials.Config{ClientID: a.ClientID, ClientSecret: secret, TokenURL: a.TokenURL, Scopes: a.Scopes}}
	if a.Audience != "" {
		t.config.EndpointParams = url.Values{"audience": {a.Audience}}
	}
	return t
}

// OrSame returns before if it has the same credentials, otherwise t. So unchanged
// credentials keep their token.
func (t *Tokens) OrSame(before *Tokens) *Tokens {
	if t == nil || before == nil {
		return t
	}
	b, n := &before.config, &t.config
	if b.ClientID == n.ClientID && b.ClientSecret == n.ClientSecret && b.TokenURL == n.TokenURL &&
		reflect.DeepEqual(b.Scopes, n.Scopes) && reflect.DeepEqual(b.EndpointParams, n.EndpointParams) {
		return before
	}
	return t
}

// get returns a valid token. Errors: errToken, and the errors of ctx.
func (t *Tokens) get(ctx context.Context, s *Sender) (string, error) {
	for {
		token, wait, err := t.have(s)
		if wait == nil {
			return token, err
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return "", fmt.Errorf("%w: the token endpoint did not respond in time", errToken)
		}
	}
}

// have returns a token, or an error, or a channel to wait for. It replaces a token near
// its expiry while the old token is still in use.
func (t *Tokens) have(s *Sender) (token string, wait <-chan struct{}, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	good := t.current != "" && (t.ends.IsZero() || now.Before(t.ends))
	if good && (t.ends.IsZero() || now.Before(t.ends.Add(-min(tokenAhead, t.ends.Sub(t.began)/4)))) {
		return t.current, nil, nil
	}
	if t.asking == nil {
		if t.failed != nil && now.Sub(t.failedAt) < tokenPause {
			if good {
				return t.current, nil, nil
			}
			return "", nil, t.failed
		}
		t.asking = make(chan struct{})
		s.fetching.Go(func() { t.ask(s.running, s.authorities) })
	}
	if good {
		return t.current, nil, nil
	}
	return "", t.asking, nil
}

// ask requests a token. Only its own timeout and the end of the sender cancel it, because
// several webhooks wait for it.
func (t *Tokens) ask(ctx context.Context, authorities *http.Client) {
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, oauth2.HTTPClient, authorities), tokenTimeout)
	defer cancel()
	made, err := t.config.Token(ctx)
	if err == nil {
		err = usable(made)
	} else {
		err = explainToken(ctx, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.asking)
	t.asking = nil
	if t.failed = err; err != nil {
		t.failedAt = time.Now()
		return
	}
	t.current, t.began, t.ends = made.AccessToken, time.Now(), made.Expiry
	if soonest := t.began.Add(tokenPause); !t.ends.IsZero() && t.ends.Before(soonest) {
		t.ends = soonest // a token that expires at once is used once
	}
}

// renew replaces a token that the destination refused. It reports whether there is
// another token to use.
func (t *Tokens) renew(ctx context.Context, s *Sender, refused string) (string, bool) {
	t.mu.Lock()
	if t.current == refused {
		if now := time.Now(); now.Sub(t.renewed) >= renewEvery {
			t.renewed, t.current = now, ""
		} else {
			t.mu.Unlock()
			return "", false
		}
	}
	t.mu.Unlock()
	token, err := t.get(ctx, s)
	return token, err == nil && token != refused
}

// usable reports whether a token fits into a header.
func usable(t *oauth2.Token) error {
	switch {
	case !strings.EqualFold(t.Type(), "Bearer"):
		return fmt.Errorf("%w: the token endpoint's token is not a bearer token", errToken)
	case len(t.AccessToken) > maxToken || !httpguts.ValidHeaderFieldValue(t.AccessToken) || strings.ContainsAny(t.AccessToken, " \t"):
		return fmt.Errorf("%w: the token endpoint's token is too long, or has characters that a header does not allow", errToken)
	}
	return nil
}

// explainToken returns a readable error without the text of the token endpoint, because
// that text may repeat the credentials.
func explainToken(ctx context.Context, err error) error {
	var refused *oauth2.RetrieveError
	var broken *url.Error
	switch {
	case errors.As(err, &refused):
		text := "the token endpoint responded " + statusLine(refused.Response.StatusCode)
		if isErrorCode(refused.ErrorCode) {
			text += ": " + refused.ErrorCode
		}
		return fmt.Errorf("%w: %s", errToken, text)
	case ctx.Err() != nil:
		return fmt.Errorf("%w: the token endpoint did not respond within %s", errToken, tokenTimeout)
	case errors.As(err, &broken):
		return fmt.Errorf("%w: the token endpoint: %w", errToken, broken.Err)
	}
	return fmt.Errorf("%w: the token endpoint's response has no access token", errToken)
}

// isErrorCode reports whether a text has the form of an error code of RFC 6749, 5.2.
func isErrorCode(text string) bool {
	const longest = 64
	return text != "" && len(text) <= longest && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz_") == ""
}

// sendAuthorized makes a request with a token. If the destination refuses the token, it
// repeats the request once with another token.
func (s *Sender) sendAuthorized(ctx context.Context, d *Destination, r *httpclient.Request, a *Attempt) error {
	ctx, cancel := context.WithDeadline(ctx, r.Deadline)
	defer cancel()
	token, err := d.Tokens.get(ctx, s)
	if err != nil {
		return d.maskError(a, err)
	}
	with := func(token string) *httpclient.Request {
		authorized := *r
		authorized.Headers = append(r.Headers[:len(r.Headers):len(r.Headers)], httpclient.Header{Name: "Authorization", Value: "Bearer " + token})
		return &authorized
	}
	a.token = token
	err = s.exchange(ctx, d, with(token), a)
	if err != nil || a.Status != http.StatusUnauthorized {
		return err
	}
	if token, ok := d.Tokens.renew(ctx, s, token); ok {
		*a = Attempt{At: a.At, token: token}
		return s.exchange(ctx, d, with(token), a)
	}
	return nil
}
