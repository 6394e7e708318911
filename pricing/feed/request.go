package feed

import (
	"archive/zip"
	"bytes"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// address returns the URL of a path below the source's address, with a query of names and
// values in turn. Empty values are left out. A query of the source's address comes first.
func (q *Query) address(path string, pairs ...string) string {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			values.Set(pairs[i], pairs[i+1])
		}
	}
	base, query, _ := strings.Cut(q.URL, "?")
	if len(values) > 0 {
		query = strings.TrimPrefix(query+"&"+values.Encode(), "&")
	}
	base = strings.TrimSuffix(base, "/") + path
	if query == "" {
		return base
	}
	return base + "?" + query
}

// advance returns the request with a greater number in its query, such as the next page.
func (r *Request) advance(name string, by int) Request {
	next := *r
	if u, err := url.Parse(r.URL); err == nil {
		values := u.Query()
		n, _ := strconv.Atoi(values.Get(name))
		values.Set(name, strconv.Itoa(n+by))
		u.RawQuery = values.Encode()
		next.URL = u.String()
	}
	return next
}

// bearer returns the header with an access token, nil if there is no token.
func bearer(token string) http.Header {
	if token == "" {
		return nil
	}
	return http.Header{"Authorization": {"Bearer " + token}}
}

// tokenRequest asks for an access token of a name. next returns the request that uses the
// token. No error shows the response.
func tokenRequest(address string, form url.Values, name string, next func(token string) Request) Request {
	return Request{
		URL:    address,
		Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}},
		Body:   []byte(form.Encode()),
		Read: func(_ *Query, r *Response) (Data, error) {
			var fields map[string]any
			err := decode(r.Body, &fields)
			token, _ := fields[name].(string)
			if err != nil || token == "" {
				return Data{}, refuse("has no %s", name)
			}
			return Data{Next: []Request{next(token)}}, nil
		},
	}
}

// maxUnzipped limits the content of a zip file.
const maxUnzipped = 64 << 20

// unzip returns the content of a zip file with one member.
func unzip(body []byte) ([]byte, error) {
	archive, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
	if err != nil {
		return nil, refuse("is no zip file, it begins with %q: %w", beginning(body), err)
	}
	if len(archive.File) != 1 {
		return nil, refuse("is a zip file of %d members, 1 is expected", len(archive.File))
	}
	member, err := archive.File[0].Open()
	if err != nil {
		return nil, refuse("is a damaged zip file: %w", err)
	}
	defer member.Close() //nolint:errcheck // it is only read
	content, err := io.ReadAll(io.LimitReader(member, maxUnzipped+1))
	switch {
	case err != nil:
		return nil, refuse("is a damaged zip file: %w", err)
	case len(content) > maxUnzipped:
		return nil, refuse("unzips to more than %d bytes", maxUnzipped)
	}
	return content, nil
}

// isXML reports whether a body is XML or HTML.
func isXML(body []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))), []byte("<"))
}

// beginning returns the beginning of a body for an error. Dots show that the body goes on.
func beginning(body []byte) string {
	const enough = 200
	if len(body) > enough {
		body = slices.Concat(body[:enough], []byte("..."))
	}
	return clip(string(body))
}
