package config

import (
	"encoding/base64"
	"net"
	"net/mail"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

func address(s string) string {
	host, port, _ := net.SplitHostPort(s) // without a port if s is no address
	_, err := strconv.ParseUint(port, 10, 16)
	return unless(err == nil && !strings.ContainsAny(host, " /"), "must be an address to listen on, such as 127.0.0.1:8080 or :8080")
}

func adminAddress(c *Config) string {
	if right := address(c.Admin); right != "" {
		return right
	}
	return unless(c.Role == Worker || !collide(c.Admin, c.HTTP), "must differ from the address of http")
}

func mqttAddress(c *Config) string {
	switch {
	case c.MQTT == "":
		return ""
	case !c.OpenADR.Enabled:
		return "must be empty without openadr: MQTT carries its notifications alone"
	case address(c.MQTT) != "":
		return address(c.MQTT)
	}
	return unless(!collide(c.MQTT, c.HTTP) && !collide(c.MQTT, c.Admin), "must differ from the addresses of http and admin")
}

// collide reports whether one process cannot listen on two addresses: they have the same port
// and the same host, or one of them means every host.
func collide(a, b string) bool {
	host, port, _ := net.SplitHostPort(a)
	other, same, _ := net.SplitHostPort(b)
	every := func(host string) bool { return host == "" || net.ParseIP(host).IsUnspecified() }
	return port == same && port != "0" && (host == other || every(host) || every(other))
}

// RightOperatorKey describes a valid operator key.
const RightOperatorKey = "must have at least 16 characters, all of them printable ASCII without spaces"

// ValidOperatorKey reports whether a text may be an operator key.
func ValidOperatorKey(key string) bool {
	return len(key) >= 16 && !strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' })
}

func smtpFrom(c *Config) string {
	if c.SMTP.From == "" && c.SMTP.URL.URL == nil {
		return ""
	}
	from, err := mail.ParseAddress(c.SMTP.From)
	return unless(err == nil && from.Address == c.SMTP.From, "must be an email address such as gridhook@example.com")
}

func natsURL(s string) string {
	for server := range strings.SplitSeq(s, ",") {
		u, err := url.Parse(strings.TrimSpace(server))
		if err != nil || u.Hostname() == "" {
			return "must be a URL such as nats://10.0.0.5:4222, or several, comma-separated"
		}
		if !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme) {
			return "must begin with nats://, tls://, ws:// or wss://"
		}
	}
	return ""
}

// List splits a list at commas and spaces.
func List(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

func readable(path string) string {
	if path == "" {
		return ""
	}
	f, err := os.Open(path) //nolint:gosec // the operator names the file
	if err != nil {
		return "must be a readable file: " + cause(err)
	}
	_ = f.Close()
	return ""
}

// origins checks a list of values of the Origin header: a scheme, a host and an optional
// port.
func origins(list string) string {
	const right = "must be origins such as https://app.example.com, comma-separated"
	if list == "" {
		return ""
	}
	for origin := range strings.SplitSeq(list, ",") {
		origin = strings.TrimSpace(origin)
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || origin != strings.ToLower(u.Scheme+"://"+u.Host) {
			return right
		}
	}
	return ""
}

const rightMasterKey = "must be the base64 of 32 random bytes, such as from \"openssl rand -base64 32\", or several"

func masterKey(c *Config) string {
	if c.MasterKey != "" && c.MasterKeyFile != "" {
		return "must be empty if master-key-file is set"
	}
	return masterKeys(c.MasterKey)
}

func masterKeys(text string) string {
	for _, key := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r <= ' ' }) {
		if b, err := base64.StdEncoding.DecodeString(key); err != nil || len(b) != 32 {
			return rightMasterKey
		}
	}
	return ""
}

func masterKeyFile(c *Config) string {
	if c.MasterKeyFile == "" {
		return ""
	}
	text, err := os.ReadFile(c.MasterKeyFile)
	if err != nil {
		return "must be a readable file: " + cause(err)
	}
	given := len(strings.TrimSpace(string(text))) > 0
	return unless(given && masterKeys(string(text)) == "", "must be a file with one key per line: each "+rightMasterKey)
}

func collector(s string) string {
	u, err := url.Parse(s)
	return unless(s == "" || err == nil && u.Hostname() != "" && (u.Scheme == "http" || u.Scheme == "https"), "must be an http or https URL, such as http://127.0.0.1:4318")
}

func headerList(s string) string {
	for name, value := range HeaderPairs(s) {
		if !httpguts.ValidHeaderFieldName(name) || value == "" || !httpguts.ValidHeaderFieldValue(value) {
			return "must be headers such as authorization=secret, comma-separated"
		}
	}
	return ""
}

// HeaderPairs parses a comma-separated list of name=value headers.
func HeaderPairs(list string) map[string]string {
	pairs := map[string]string{}
	for part := range strings.SplitSeq(list, ",") {
		if part = strings.TrimSpace(part); part != "" {
			name, value, _ := strings.Cut(part, "=")
			pairs[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return pairs
}

// masked is shown in place of a secret.
const masked = "********"

// withoutPassword masks the user data and the query in a comma-separated list of URLs. It
// masks a URL that does not parse as a whole, and everything if a secret may contain a
// comma.
func withoutPassword(s string) string {
	servers := strings.Split(s, ",")
	for i, server := range servers {
		if strings.ContainsAny(s, "@?") && !strings.Contains(server, "://") {
			return masked
		}
		u, err := url.Parse(strings.TrimSpace(server))
		if err != nil {
			servers[i] = masked
			continue
		}
		if u.User != nil {
			u.User = url.User("xxxxx")
			servers[i] = u.String()
		}
		if u.RawQuery != "" {
			u.RawQuery = "xxxxx"
			servers[i] = u.String()
		}
	}
	return strings.Join(servers, ",")
}
