package send

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/gridhook/gridhook/storage/redact"
)

// Text converts a response, or a part of it, to the text that is stored and shown. It masks
// the destination's secrets and the access token of the attempt. The text has about
// KeptResponse bytes at most.
func (d *Destination) Text(a *Attempt, response string) string {
	if response == "" {
		return ""
	}
	masked := d.Mask(a, response[:min(len(response), KeptResponse)])
	return validText([]byte(masked[:min(len(masked), KeptResponse)])) // a mask may be longer than the secret
}

// Mask masks the destination's secrets and the access token of the attempt in a text that
// may end within a secret.
func (d *Destination) Mask(a *Attempt, text string) string {
	return d.masker(a.token).MaskCut(text, redact.MinLength)
}

// ownAddresses matches the name server, and the two ends of a connection, in the text of an error of
// package net. Partners read the error in delivery logs.
var ownAddresses = regexp.MustCompile(` on \S+:\d+| \S+:\d+->\S+:\d+`)

// maskError removes own addresses from the text of an error and masks secrets: an error about a
// malformed response quotes the response.
func (d *Destination) maskError(a *Attempt, err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if masked := d.masker(a.token).Mask(ownAddresses.ReplaceAllString(text, "")); masked != text {
		return &maskedError{err, masked}
	}
	return err
}

// maskedError is an error with another text.
type maskedError struct {
	error

	text string
}

func (e *maskedError) Error() string { return e.text }

func (e *maskedError) Unwrap() error { return e.error }

// masker returns the masker for requests with an access token, "" for none. It is made when
// an attempt fails: deliveries that succeed do not need it.
func (d *Destination) masker(token string) *redact.Masker {
	d.maskMu.Lock()
	defer d.maskMu.Unlock()
	if d.masks == nil || d.maskedToken != token {
		d.masks, d.maskedToken = redact.New(d.secrets(token)...), token
	}
	return d.masks
}

// secrets returns the values of the destination's requests that no stored text shows.
func (d *Destination) secrets(token string) []string {
	list := []string{token}
	for _, value := range d.Secrets {
		list = append(list, headerSecrets(value)...)
	}
	if user := d.URL.User; user != nil {
		password, _ := user.Password()
		list = append(list, user.Username(), password, user.Username()+":"+password)
	}
	list = append(list, redact.QueryValues(d.URL.RawQuery)...)
	if d.Tokens != nil {
		list = append(list, d.Tokens.config.ClientSecret)
		if u, err := url.Parse(d.Tokens.config.TokenURL); err == nil {
			list = append(list, redact.QueryValues(u.RawQuery)...)
		}
	}
	return slices.DeleteFunc(list, func(s string) bool { return len(s) < redact.MinLength })
}

// headerSecrets returns a header's value and the parts that a receiver may show alone: what
// follows a scheme such as Bearer, a user's password, and the values of cookies and of other
// parameters.
func headerSecrets(value string) []string {
	list := []string{value}
	scheme, credentials, _ := strings.Cut(value, " ")
	credentials = strings.TrimSpace(credentials)
	if list = append(list, credentials); strings.EqualFold(scheme, "Basic") {
		pair, _ := base64.StdEncoding.DecodeString(credentials)
		_, password, _ := strings.Cut(string(pair), ":")
		list = append(list, string(pair), password)
	}
	for _, part := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" ,;&", r) }) {
		_, parameter, _ := strings.Cut(part, "=")
		list = append(list, strings.Trim(parameter, `"`))
	}
	return list
}
