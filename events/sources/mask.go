package sources

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"html"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gridhook/gridhook/pricing/feed"
	"github.com/gridhook/gridhook/storage"
)

// shortest is the length of the shortest part that counts as secret. A shorter one would hide
// other words.
const shortest = 4

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
	// Some servers separate with semicolons.
	pieces := append(strings.Split(u.RawQuery, "&"), strings.FieldsFunc(u.RawQuery, func(r rune) bool { return r == '&' || r == ';' })...)
	values := []string{u.RawQuery}
	for _, piece := range pieces {
		name, value, found := strings.Cut(piece, "=")
		if !found {
			value = name
		}
		values = append(values, value)
	}
	known := slices.Collect(maps.Values(q.Parameters))
	for _, value := range values {
		query, _ := url.QueryUnescape(value) // empty if an escape is malformed
		path, _ := url.PathUnescape(value)   // a plus sign stays
		forms := []string{value, cmp.Or(query, value), cmp.Or(path, value)}
		if !slices.ContainsFunc(forms, func(v string) bool { return len(v) < shortest || slices.Contains(known, v) }) {
			list = append(list, forms...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// mask hides secrets in a text, and their parts between colons, such as a user name and a
// password. It hides every form in which a request, a response or an error has them.
func mask(text string, secrets ...string) string {
	var pairs []string
	for _, form := range allForms(secrets) {
		pairs = append(pairs, form, storage.Masked)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// maskError hides secrets in the text of an error, which cuts what it quotes and writes dots
// after it.
func maskError(text string, secrets ...string) string {
	const dots = "..."
	forms := allForms(secrets)
	pieces := strings.Split(text, dots)
	for i, piece := range pieces[:len(pieces)-1] {
		hidden := 0
		for _, form := range forms {
			for n := min(len(form), len(piece)); n > hidden; n-- {
				if strings.HasSuffix(piece, form[:n]) {
					hidden = n
				}
			}
		}
		if hidden > 0 {
			pieces[i] = piece[:len(piece)-hidden] + storage.Masked
		}
	}
	return mask(strings.Join(pieces, dots), secrets...)
}

// allForms returns the forms of secrets and of their parts. The longest is first: of two
// forms that begin at the same place, the longer is the secret.
func allForms(secrets []string) (forms []string) {
	for _, secret := range secrets {
		parts, pieces := []string{secret}, strings.Split(secret, ":")
		for i, piece := range pieces {
			parts = append(parts, piece, strings.Join(pieces[:i], ":"), strings.Join(pieces[i:], ":"))
		}
		for _, part := range parts {
			if part != "" && (len(part) >= shortest || part == secret) {
				forms = append(forms, formsOf(part)...)
			}
		}
	}
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	return forms
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
