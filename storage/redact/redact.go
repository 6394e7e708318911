package redact

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gridhook/gridhook/storage"
)

// MinLength is the length of the shortest value that counts as secret, in bytes. A shorter
// one would mask other words.
const MinLength = 4

// Masker masks secrets in texts.
type Masker struct {
	forms    []string
	replacer *strings.Replacer
}

// New returns a Masker for secrets, in every form in which a request, a response or an error
// has them. An empty secret has no effect.
func New(secrets ...string) *Masker {
	m := &Masker{}
	for _, secret := range secrets {
		if secret != "" {
			m.forms = append(m.forms, formsOf(secret)...)
		}
	}
	// The longest is first: of two forms that begin at the same place, the longer is the
	// secret.
	slices.SortFunc(m.forms, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	m.forms = slices.Compact(m.forms)
	pairs := make([]string, 0, 2*len(m.forms))
	for _, form := range m.forms {
		pairs = append(pairs, form, storage.Masked)
	}
	m.replacer = strings.NewReplacer(pairs...)
	return m
}

// Mask replaces the secrets in a text by storage.Masked.
func (m *Masker) Mask(text string) string { return m.replacer.Replace(text) }

// MaskCut is Mask for a text that may end within a secret. It also masks the beginning of a
// secret at the end of the text if the beginning has shortest bytes or more.
func (m *Masker) MaskCut(text string, shortest int) string {
	cut := 0
	for _, form := range m.forms {
		for n := min(len(form), len(text)); n >= shortest && n > cut; n-- {
			if strings.HasSuffix(text, form[:n]) {
				cut = n
			}
		}
	}
	if cut == 0 {
		return m.Mask(text)
	}
	return m.Mask(text[:len(text)-cut]) + storage.Masked
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

// QueryValues returns the values in the query of a URL that count as secrets, as they are
// written and decoded. The known values are not secrets.
func QueryValues(query string, known ...string) (list []string) {
	// Some servers separate with semicolons.
	pieces := append(strings.Split(query, "&"), strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == ';' })...)
	values := []string{query}
	for _, piece := range pieces {
		name, value, found := strings.Cut(piece, "=")
		if !found {
			value = name
		}
		values = append(values, value)
	}
	for _, value := range values {
		decoded, _ := url.QueryUnescape(value) // empty if an escape is malformed
		path, _ := url.PathUnescape(value)     // a plus sign stays
		forms := []string{value, cmp.Or(decoded, value), cmp.Or(path, value)}
		if !slices.ContainsFunc(forms, func(v string) bool { return len(v) < MinLength || slices.Contains(known, v) }) {
			list = append(list, forms...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
