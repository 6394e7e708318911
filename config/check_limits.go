package config

import (
	"fmt"
	"net/url"
	"strings"
	"time"
)

func perSecond(rate float64) string {
	if !(rate > 0 && rate <= 1e6) {
		return "must be above 0 and at most 1000000 a second"
	}
	return ""
}

func bodySize(n, most Size) string {
	if n < 1<<10 || n > most {
		return fmt.Sprintf("must be from 1KiB to %s", most)
	}
	return ""
}

func maxHeaders(c *Config) string {
	if n := c.Limits.MaxHeaders; n < 1<<10 || n > 1<<20 {
		return "must be from 1KiB to 1MiB"
	}
	return ""
}

func estimates(c *Config) string {
	if n := c.Limits.Estimates; n < 0 || n > 1024 {
		return "must be from 0 to 1024"
	}
	return ""
}

func connectionTime(d time.Duration) string {
	if d < 100*time.Millisecond || d > time.Hour {
		return "must be from 100ms to 1h"
	}
	return ""
}

func readTimeout(c *Config) string {
	if right := connectionTime(c.Limits.ReadTimeout); right != "" {
		return right
	}
	if c.Limits.ReadTimeout < c.Limits.HeaderTimeout {
		return "must be at least header-timeout: the headers are a part of the request"
	}
	return ""
}

func writeTimeout(c *Config) string {
	if right := connectionTime(c.Limits.WriteTimeout); right != "" {
		return right
	}
	if c.Limits.WriteTimeout <= c.Limits.RequestTimeout {
		return "must be longer than request-timeout: an operation that is given up is answered still"
	}
	return ""
}

// origins are what a browser sends as Origin: a scheme, a host and perhaps a port.
func origins(list string) string {
	const right = "must be origins such as https://app.example.com, with commas between them"
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
