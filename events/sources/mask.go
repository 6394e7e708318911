package sources

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gridhook/gridhook/storage"
)

// mask hides a secret in a text, and its parts between colons, such as a user name and a
// password. It hides every form in which a request, a response or an error has them.
func mask(text, secret string) string {
	const least = 4 // a shorter part is no secret, and would hide other words
	parts, pieces := []string{secret}, strings.Split(secret, ":")
	for i, piece := range pieces {
		parts = append(parts, piece, strings.Join(pieces[:i], ":"), strings.Join(pieces[i:], ":"))
	}
	var forms []string
	for _, part := range parts {
		if part != "" && (len(part) >= least || part == secret) {
			forms = append(forms, formsOf(part)...)
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
