package send

import "net/http"

// Fetcher makes requests for data, such as market prices. It uses the guarded dialer, checks
// the URL of every request, decompresses responses, follows no redirects and keeps no
// cookies. Close ends it.
type Fetcher struct {
	guard  Guard
	client *http.Client
}

// NewFetcher returns a fetcher.
func NewFetcher(o Options) *Fetcher {
	o.setDefaults()
	transport := o.transport()
	transport.DisableCompression = false
	return &Fetcher{guard: o.Guard, client: newClient(transport, 0)}
}

// Do makes a request. The caller closes the body of the response.
func (f *Fetcher) Do(r *http.Request) (*http.Response, error) {
	if err := f.guard.CheckURL(r.URL.String()); err != nil {
		return nil, err
	}
	return f.client.Do(r) //nolint:gosec // the guard has checked the URL, and checks the address
}

// Close closes idle connections.
func (f *Fetcher) Close() { f.client.CloseIdleConnections() }
