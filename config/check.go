package config

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// Checks say what would be right, or "" when the value is.

func filled(s, what string) string {
	if s == "" {
		return "must be " + what
	}
	return ""
}

func address(s string) string {
	const right = "must be an address to listen on, such as 127.0.0.1:8080 or :8080"
	host, port, err := net.SplitHostPort(s)
	if err != nil || strings.ContainsAny(host, " /") {
		return right
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n > 65535 {
		return right
	}
	return ""
}

func adminAddress(c *Config) string {
	if right := address(c.Admin); right != "" {
		return right
	}
	if _, port, _ := net.SplitHostPort(c.Admin); c.Role != Worker && c.Admin == c.HTTP && port != "0" {
		return "must be another address than http's"
	}
	return ""
}

func operatorKey(c *Config) string {
	if k := c.OperatorKey; k != "" && (len(k) < 16 || strings.ContainsFunc(k, func(r rune) bool { return r <= ' ' || r > '~' })) {
		return "must have at least 16 characters, all of them printable ASCII without spaces"
	}
	return ""
}

func natsURL(s string) string {
	if s == "" {
		return "" // whether it is required is another question
	}
	for server := range strings.SplitSeq(s, ",") {
		u, err := url.Parse(strings.TrimSpace(server))
		if err != nil || u.Hostname() == "" {
			return "must be a URL such as nats://10.0.0.5:4222, or several with commas between them"
		}
		switch u.Scheme {
		case "nats", "tls", "ws", "wss":
		default:
			return "must begin with nats://, tls://, ws:// or wss://"
		}
	}
	return ""
}

func readable(path string) string {
	if path == "" {
		return ""
	}
	f, err := os.Open(path) //nolint:gosec // the operator names the file
	if err != nil {
		return "must be a file that can be read: " + cause(err)
	}
	_ = f.Close()
	return ""
}

func pair(path, other, name string) string {
	if path != "" && other == "" {
		return "needs " + name + " beside it"
	}
	return readable(path)
}

func upTo(n, most int) string {
	if n < 1 || n > most {
		return fmt.Sprintf("must be from 1 to %d", most)
	}
	return ""
}

func drainTimeout(c *Config) string {
	if d := c.Worker.DrainTimeout; d < time.Second || d > time.Hour {
		return "must be from 1s to 1h"
	}
	return ""
}

func maxStore(c *Config) string {
	if n := c.MaxStore; n != 0 && n < 64<<20 {
		return "must be 0 or at least 64MiB"
	}
	return ""
}

func memoryLimit(c *Config) string {
	if n := c.MemoryLimit; n != 0 && n < 128<<20 {
		return "must be 0 or at least 128MiB"
	}
	return ""
}

// age is how long something of the record may be kept: a delivery is retried for
// up to a day, and its outcomes must outlive that.
func age(d time.Duration) string {
	const least, most = 25 * time.Hour, 10 * 365 * 24 * time.Hour
	if d < least || d > most {
		return "must be from 25h (retries go on for 24h) to 87600h"
	}
	return ""
}

func triggersAge(c *Config) string {
	if right := age(c.TriggersAge); right != "" {
		return right
	}
	if c.TriggersAge < c.ReceiptsAge {
		return "must be at least receipts-age: an outcome is read by its trigger"
	}
	return ""
}

// masked shows that there is a secret.
func masked(string) string { return "********" }

// withoutPassword masks what is secret in URLs with commas between them.
func withoutPassword(s string) string {
	servers := strings.Split(s, ",")
	for i, server := range servers {
		u, err := url.Parse(strings.TrimSpace(server))
		switch {
		case err != nil:
			servers[i] = masked(server)
		case u.User != nil:
			if _, has := u.User.Password(); has {
				servers[i] = u.Redacted()
			} else {
				u.User = url.User("xxxxx") // a user alone is a token
				servers[i] = u.String()
			}
		}
	}
	return strings.Join(servers, ",")
}
