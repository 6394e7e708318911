package sources

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/gridhook/gridhook/pricing/feed"
	"github.com/gridhook/gridhook/storage/redact"
)

// secretsOf returns what no error of a query may show: its secret, and the values in its
// address as they are written and decoded. A value that equals a parameter is no secret.
func secretsOf(q *feed.Query) (list []string) {
	if q.Secret != "" {
		list = append(list, q.Secret)
	}
	u, err := url.Parse(q.URL)
	if err != nil {
		return list
	}
	list = append(list, redact.QueryValues(u.RawQuery, slices.Collect(maps.Values(q.Parameters))...)...)
	slices.Sort(list)
	return slices.Compact(list)
}

// maskError hides secrets in the text of an error. Such a text may quote only the beginning of a
// secret, with dots after it.
func maskError(text string, secrets ...string) string {
	const dots = "..."
	masker := redact.New(withParts(secrets)...)
	pieces := strings.Split(text, dots)
	for i, piece := range pieces[:len(pieces)-1] {
		pieces[i] = masker.MaskCut(piece, 1)
	}
	return masker.Mask(strings.Join(pieces, dots))
}

// withParts returns secrets and their parts between colons, such as a user name and a
// password.
func withParts(secrets []string) (list []string) {
	for _, secret := range secrets {
		list = append(list, secret)
		pieces := strings.Split(secret, ":")
		for i, piece := range pieces {
			for _, part := range []string{piece, strings.Join(pieces[:i], ":"), strings.Join(pieces[i:], ":")} {
				if len(part) >= redact.MinLength {
					list = append(list, part)
				}
			}
		}
	}
	return list
}
