package sources

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing/feed"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/redact"
)

// Limits of a fetch.
const (
	fetchTimeout = time.Minute
	maxRequests  = 200
	// maxBytes bounds the decompressed bodies of a fetch together.
	maxBytes = 64 << 20
	// maxRetryAfter bounds the delay that a server asks for.
	maxRetryAfter = 24 * time.Hour
)

// The days that a fetch asks for. A forecast of market prices needs two weeks of history.
// Operators correct the prices of the last day, and publish the next day.
const (
	day           = 24 * time.Hour
	newDays       = 14
	correctedDays = 1
	aheadDays     = 2
	maxDays       = 31
)

// Client makes requests. It must refuse forbidden destinations and not follow redirects.
type Client interface {
	Do(*http.Request) (*http.Response, error)
}

// fetched is the data of all responses of a fetch.
type fetched struct {
	feed.Data
	requests int
	// unchanged means that the server has nothing newer than the last good run.
	unchanged  bool
	validators storage.SourceValidators
	// retryAfter is the delay that the server asked for, 0 for none.
	retryAfter time.Duration
	secrets    []string
}

// fetcher makes the requests of one fetch.
type fetcher struct {
	client  Client
	adapter *feed.Adapter
	query   *feed.Query
	now     time.Time
	// had are the validators of the last good run.
	had  storage.SourceValidators
	left int64 // bytes
	fetched
}

// span returns the midnights between which prices are wanted. end is the end of the
// newest known price, zero if there is none.
func span(now, end time.Time, l *time.Location) (from, to time.Time) {
	local := now.In(l)
	today := time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, l)
	days := newDays
	if !end.IsZero() {
		missing := max(today.Sub(end), 0)
		days = min(correctedDays+int((missing+day-1)/day), maxDays)
	}
	return today.AddDate(0, 0, -days), today.AddDate(0, 0, aheadDays)
}

// run makes all requests.
func (f *fetcher) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	f.left, f.secrets = maxBytes, secretsOf(f.query)
	err := f.all(ctx)
	if ctx.Err() != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("no complete response within %v", fetchTimeout)
	}
	if err == nil && !f.unchanged && len(f.Prices) == 0 && f.Tariff == nil && !f.Alerted {
		err = errors.New("the response has no prices")
	}
	return f.hide(err)
}

// hide returns an error about the data without the source's secrets.
func (f *fetched) hide(err error) error {
	if err != nil && len(f.secrets) > 0 {
		return errors.New(maskError(err.Error(), f.secrets...))
	}
	return err
}

func (f *fetcher) all(ctx context.Context) error {
	pending, err := f.adapter.Requests(f.query)
	if err != nil {
		return err
	}
	for len(pending) > 0 {
		if f.requests == maxRequests {
			return fmt.Errorf("the data needs more than %d requests", maxRequests)
		}
		request := pending[0]
		data, err := f.one(ctx, &request)
		if err != nil || f.unchanged {
			return err
		}
		pending = append(pending[1:], data.Next...)
		f.add(data)
	}
	if f.requests > 1 { // a response of several does not say whether the others have changed
		f.validators = storage.SourceValidators{}
	}
	return nil
}

func (f *fetcher) add(data feed.Data) {
	f.Prices, f.Alerts = append(f.Prices, data.Prices...), append(f.Alerts, data.Alerts...)
	f.Alerted = f.Alerted || data.Alerted
	if data.Tariff != nil {
		f.Tariff = data.Tariff
	}
}

// one makes a request and reads its response. The request has the validators of the last good
// run if that run made this request alone.
func (f *fetcher) one(ctx context.Context, r *feed.Request) (data feed.Data, err error) {
	request, err := newRequest(ctx, r)
	if err != nil {
		return data, err
	}
	// A response that has not changed has prices beyond an earlier span.
	asked := fmt.Sprintf("%s %s %d %d\n%s", request.Method, r.URL, f.query.From.Unix(), f.query.To.Unix(), r.Body)
	id := storage.Hash(asked, 8)
	conditional := f.had.Request == id
	if conditional {
		setIf(request.Header, "If-None-Match", f.had.ETag)
		setIf(request.Header, "If-Modified-Since", f.had.LastModified)
	}
	f.requests++
	response, err := f.client.Do(request)
	if err != nil {
		return data, f.explain(request, cause(err))
	}
	defer response.Body.Close() //nolint:errcheck // the body is read or of no use
	switch {
	case response.StatusCode == http.StatusNotModified && conditional:
		f.unchanged, f.validators = true, f.had
		return data, nil
	case response.StatusCode == http.StatusNotFound && r.Optional:
		return data, nil
	case response.StatusCode != http.StatusOK:
		f.retryAfter = events.RetryAfter(response.Header.Get("Retry-After"), f.now, maxRetryAfter)
		return data, f.explain(request, errors.New(statusText(response)))
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, f.left+1))
	if err != nil {
		return data, f.explain(request, fmt.Errorf("the response is incomplete: %w", cause(err)))
	}
	if f.left -= int64(len(body)); f.left < 0 {
		return data, f.explain(request, fmt.Errorf("the data is larger than %d MiB", maxBytes>>20))
	}
	if data, err = f.read(&feed.Response{Request: r, Body: body}); err != nil {
		return data, f.explain(request, err)
	}
	if tag, at := response.Header.Get("ETag"), response.Header.Get("Last-Modified"); tag != "" || at != "" {
		f.validators = storage.SourceValidators{Request: id, ETag: tag, LastModified: at}
	}
	return data, nil
}

// read reads a response. Errors show beginnings of the response, also one that ends within
// the secret. So they come from the response without it. The values in the address stay,
// because a response has them for other reasons too: see hide.
func (f *fetcher) read(r *feed.Response) (feed.Data, error) {
	data, err := f.tryRead(r)
	if err == nil || f.query.Secret == "" {
		return data, err
	}
	masked := *r
	masked.Body = []byte(redact.New(withParts([]string{f.query.Secret})...).Mask(string(r.Body)))
	if _, err = f.tryRead(&masked); err == nil {
		err = fmt.Errorf("%w: it has the secret of the source in it", feed.ErrResponse)
	}
	return data, err
}

// tryRead reads a response. A panic of the adapter is an error, because foreign data must
// not stop the other sources.
func (f *fetcher) tryRead(r *feed.Response) (data feed.Data, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: the adapter failed: %v", feed.ErrResponse, p)
		}
	}()
	if r.Request.Read != nil {
		return r.Request.Read(f.query, r)
	}
	return f.adapter.Read(f.query, r)
}

func newRequest(ctx context.Context, r *feed.Request) (*http.Request, error) {
	method, body := http.MethodGet, io.Reader(nil)
	if len(r.Body) > 0 {
		method, body = http.MethodPost, bytes.NewReader(r.Body)
	}
	request, err := http.NewRequestWithContext(ctx, method, r.URL, body)
	if err != nil {
		return nil, fmt.Errorf("the address is not valid: %w", cause(err))
	}
	maps.Copy(request.Header, r.Header)
	setIf(request.Header, "User-Agent", "gridhook")
	return request, nil
}

// setIf sets a header to a value that is not empty.
func setIf(h http.Header, name, value string) {
	if value != "" {
		h.Set(name, value)
	}
}

// explain names the request of an error by its host. The path and the query may contain
// the secret.
func (f *fetcher) explain(r *http.Request, err error) error {
	return fmt.Errorf("%s %s: %w", r.Method, r.URL.Host, err)
}

// cause returns the error without the URL of its request.
func cause(err error) error {
	if wrong, ok := errors.AsType[*url.Error](err); ok {
		return wrong.Err
	}
	return err
}

// statusText describes a response other than 200.
func statusText(r *http.Response) string {
	text := strconv.Itoa(r.StatusCode)
	if name := http.StatusText(r.StatusCode); name != "" {
		text += " " + name
	}
	if to, err := r.Location(); err == nil {
		text += ", which leads to " + to.Scheme + "://" + to.Host + to.Path + ": change the url of the source, because redirects are not followed"
	}
	return text
}
