package sources

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gridhook/gridhook/pricing/feed"
	"github.com/gridhook/gridhook/storage"
)

// secretsOf returns what no error of a query may show: its secret, and the values in its
// address that are long enough for a key.
func secretsOf(q *feed.Query) (list []string) {
	const least = 8
	if q.Secret != "" {
		list = append(list, q.Secret)
	}
	if u, err := url.Parse(q.URL); err == nil {
		for _, values := range u.Query() {
			list = append(list, slices.DeleteFunc(values, func(v string) bool { return len(v) < least })...)
		}
	}
	return list
}

// mask hides secrets in a text, and their parts between colons, such as a user name and a
// password. It hides every form in which a request, a response or an error has them.
func mask(text string, secrets ...string) string {
	const least = 4 // a shorter part is no secret, and would hide other words
	var forms []string
	for _, secret := range secrets {
		parts, pieces := []string{secret}, strings.Split(secret, ":")
		for i, piece := range pieces {
			parts = append(parts, piece, strings.Join(pieces[:i], ":"), strings.Join(pieces[i:], ":"))
		}
		for _, part := range parts {
			if part != "" && (len(part) >= least || part == secret) {
				forms = append(forms, formsOf(part)...)
			}
		}
	}
	// Of two forms that begin at the same place, the longer is the secret.
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, form := range forms {
		pairs = append(pairs, form, storage.Masked)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// formsOf returns a text as it is in an address, in JSON, in HTML, in an error and in a
// header.
func formsOf(text string) []string {
	document, _ := json.Marshal(text) // a text has a JSON form
	inJSON := strings.Trim(string(document), `"`)
	return []string{
		text, url.QueryEscape(text), url.PathEscape(text), inJSON, strings.ReplaceAll(inJSON, "/", `\/`), html.EscapeString(text),
		strings.Trim(strconv.Quote(text), `"`),
		base64.StdEncoding.EncodeToString([]byte(text)), base64.RawStdEncoding.EncodeToString([]byte(text)),
	}
}
