package send

import "net/http"

// Fetcher makes requests for data, such as market prices. It uses the guarded dialer, checks
// the URL of every request, decompresses responses, follows no redirects and keeps no
// cookies. Close ends it.
type Fetcher struct {
	guard     Guard
	transport *http.Transport
	client    http.Client
}

// NewFetcher returns a fetcher.
func NewFetcher(o Options) *Fetcher {
	o.setDefaults()
	f := &Fetcher{guard: o.Guard, transport: o.transport()}
	f.transport.DisableCompression = false
	f.client = http.Client{
		Transport: f.transport,
		// A redirect would send a secret in the request elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return f
}

// Do makes a request. The caller closes the body of the response.
func (f *Fetcher) Do(r *http.Request) (*http.Response, error) {
	if err := f.guard.CheckURL(r.URL.String()); err != nil {
		return nil, err
	}
	return f.client.Do(r) //nolint:gosec // the guard has checked the URL, and checks the address
}

// Close closes idle connections.
func (f *Fetcher) Close() { f.transport.CloseIdleConnections() }
