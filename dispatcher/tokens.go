package dispatcher

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

	"github.com/gridhook/gridhook/dispatcher/http1"
	"github.com/gridhook/gridhook/storage"
)

// Asking for access tokens.
const (
	// tokenTimeout bounds one request for a token. Who waits for it has the
	// endpoint's time-out, too.
	tokenTimeout = 10 * time.Second
	// tokenAhead is how long before its end a token is replaced.
	tokenAhead = 30 * time.Second
	// tokenPause is how long nobody asks again after a failure: what failed for one
	// home has failed for all that wait.
	tokenPause = time.Second
	// renewEvery is how often at most a token is replaced because the destination
	// refused it. One that refuses every token must not have us ask for each home.
	renewEvery = time.Minute
	// maxToken bounds a token, in bytes: it is a header.
	maxToken = 8 << 10
)

// errToken says that there is no access token to authorize a request with.
var errToken = errors.New("no access token")

// tokens are the access tokens of one endpoint, asked for with client credentials
// (RFC 6749, 4.4), one at a time and for all requests together.
type tokens struct {
	config clientcredentials.Config

	mu       sync.Mutex
	current  string
	began    time.Time
	ends     time.Time // zero where the authority did not say
	failed   error
	failedAt time.Time
	renewed  time.Time     // when a refused one was last replaced
	asking   chan struct{} // closed at the end of the request under way, nil when there is none
}

func newTokens(a *storage.Authentication, secret string) *tokens {
	t := &tokens{config: clientcredentials.Config{ClientID: a.ClientID, ClientSecret: secret, TokenURL: a.TokenURL, Scopes: a.Scopes}}
	if a.Audience != "" {
		t.config.EndpointParams = url.Values{"audience": {a.Audience}}
	}
	return t
}

// orThose are the tokens that were there before, if they are of the same credentials.
func (t *tokens) orThose(before *tokens) *tokens {
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

// get is a token that is good now. Errors: errToken, and those of ctx.
func (t *tokens) get(ctx context.Context, authorities *http.Client) (string, error) {
	for {
		token, wait, err := t.have(authorities)
		if wait == nil {
			return token, err
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return "", fmt.Errorf("%w: the token endpoint did not answer in time", errToken)
		}
	}
}

// have is a token, or why there is none, or what to wait for. Near its end a token is
// replaced while it is still used.
func (t *tokens) have(authorities *http.Client) (token string, wait <-chan struct{}, err error) {
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
		go t.ask(authorities)
	}
	if good {
		return t.current, nil, nil
	}
	return "", t.asking, nil
}

// ask asks for a token. Nobody's patience but its own ends it: others wait for it.
func (t *tokens) ask(authorities *http.Client) {
	ctx, cancel := context.WithTimeout(context.WithValue(context.Background(), oauth2.HTTPClient, authorities), tokenTimeout)
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
		t.ends = soonest // one that ends at once is used once
	}
}

// renew replaces a token that the destination refused, and reports whether there is
// another one to try.
func (t *tokens) renew(ctx context.Context, authorities *http.Client, refused string) (string, bool) {
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
	token, err := t.get(ctx, authorities)
	return token, err == nil && token != refused
}

// usable judges a token. What is none must not get into a header.
func usable(t *oauth2.Token) error {
	switch {
	case !strings.EqualFold(t.Type(), "Bearer"):
		return fmt.Errorf("%w: the token endpoint gave one that is no bearer token", errToken)
	case len(t.AccessToken) > maxToken || !httpguts.ValidHeaderFieldValue(t.AccessToken) || strings.ContainsAny(t.AccessToken, " \t"):
		return fmt.Errorf("%w: the token endpoint gave one that does not fit a header", errToken)
	}
	return nil
}

// explainToken says in words what went wrong, without what the token endpoint wrote:
// that may repeat what it was sent.
func explainToken(ctx context.Context, err error) error {
	var refused *oauth2.RetrieveError
	var broken *url.Error
	switch {
	case errors.As(err, &refused):
		text := "the token endpoint answered " + statusLine(refused.Response.StatusCode)
		if isErrorCode(refused.ErrorCode) {
			text += ": " + refused.ErrorCode
		}
		return fmt.Errorf("%w: %s", errToken, text)
	case ctx.Err() != nil:
		return fmt.Errorf("%w: the token endpoint did not answer within %s", errToken, tokenTimeout)
	case errors.As(err, &broken):
		return fmt.Errorf("%w: the token endpoint: %w", errToken, broken.Err)
	}
	return fmt.Errorf("%w: the token endpoint's answer holds none", errToken)
}

// isErrorCode reports whether a text is one of those codes that RFC 6749, 5.2 has, by
// its letters.
func isErrorCode(text string) bool {
	const longest = 64
	return text != "" && len(text) <= longest && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz_") == ""
}

// newAuthorities is a client for token endpoints over a guarded transport.
func newAuthorities(over http.RoundTripper) *http.Client {
	return &http.Client{
		Transport: over, Timeout: tokenTimeout,
		// A redirect would take the credentials elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// sendAuthorized makes a request with a token, and once more with another one where
// the destination refuses it.
func (s *sender) sendAuthorized(ctx context.Context, e *endpoint, r *http1.Request, a *attempt) error {
	ctx, cancel := context.WithDeadline(ctx, r.By)
	defer cancel()
	token, err := e.tokens.get(ctx, s.authorities)
	if err != nil {
		return err
	}
	with := func(token string) *http1.Request {
		authorized := *r
		authorized.Headers = append(r.Headers[:len(r.Headers):len(r.Headers)], http1.Header{Name: "Authorization", Value: "Bearer " + token})
		return &authorized
	}
	err = s.post(ctx, e, with(token), a)
	if err != nil || a.status != http.StatusUnauthorized {
		return err
	}
	if token, ok := e.tokens.renew(ctx, s.authorities, token); ok {
		*a = attempt{at: a.at}
		return s.post(ctx, e, with(token), a)
	}
	return nil
}
