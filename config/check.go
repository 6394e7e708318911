package config

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
)

// check returns what a valid value of the setting would be, "" if its value is valid.
func (s *Setting) check(c *Config) string {
	if right := s.bounds(c); right != "" {
		return right
	}
	text, _ := s.field(c).(*string)
	if words, given := s.tag.Lookup("words"); given && !slices.Contains(strings.Split(words, ","), *text) {
		return "must be " + strings.ReplaceAll(words, ",", " or ")
	}
	if s.tag.Get("file") != "" {
		if other := s.tag.Get("pair"); other != "" && *text != "" {
			other = strings.TrimSuffix(s.Name, s.tag.Get("setting")) + other // a setting of the same struct
			if *Settings()[place(other)].field(c).(*string) == "" {
				return "requires " + other + " as well"
			}
		}
		if right := readable(*text); right != "" {
			return right
		}
	}
	if more := checks[s.Name]; more != nil {
		return more(c)
	}
	return ""
}

// bounds checks a value against the tags min, above and max.
func (s *Setting) bounds(c *Config) string {
	value := number(s.field(c))
	bound := func(tag string) (text string, limit float64, given bool) {
		if text, given = s.tag.Lookup(tag); given {
			var limits Config
			if err := parse(s.field(&limits), text); err != nil {
				panic(fmt.Sprintf("config: the tag %s of %s: %v", tag, s.Name, err)) // the tests see it first
			}
			limit = number(s.field(&limits))
		}
		return text, limit, given
	}
	least, min, hasMin := bound("min")
	over, above, hasAbove := bound("above")
	most, max, hasMax := bound("max")
	zero := s.tag.Get("zero") != ""
	switch {
	case zero && value == 0, (!hasMin || value >= min) && (!hasAbove || value > above) && (!hasMax || value <= max):
		return ""
	case zero && hasMax:
		return "must be 0 or from " + least + " to " + most
	case zero:
		return "must be 0 or at least " + least
	case hasAbove:
		return "must be above " + over + " and at most " + most
	}
	return "must be from " + least + " to " + most
}

// number returns a field's value as a number, 0 if the field is not numeric.
func number(field any) float64 {
	switch v := reflect.ValueOf(field).Elem(); {
	case v.CanInt():
		return float64(v.Int())
	case v.CanFloat():
		return v.Float()
	}
	return 0
}

// checks has the rules that tags cannot express. Each function returns what a valid value
// would be, "" if the value is valid.
var checks = map[string]func(*Config) string{
	"data":  func(c *Config) string { return unless(c.Data != "", "must be a folder") },
	"http":  func(c *Config) string { return address(c.HTTP) },
	"admin": adminAddress,
	"operator-key": func(c *Config) string {
		return unless(c.OperatorKey == "" || ValidOperatorKey(c.OperatorKey), RightOperatorKey)
	},
	"master-key":      masterKey,
	"master-key-file": masterKeyFile,
	"nats":            func(c *Config) string { return natsURL(c.NATS.URL) },
	"nats-prefix": func(c *Config) string { // in capitals it is a part of the names of streams
		return unless(natsPrefixes.MatchString(c.NATS.Prefix), "must be 1 to 32 lower-case letters, digits, - and _, and begin with a letter")
	},
	"nats-replicas": func(c *Config) string {
		return unless(c.NATS.Replicas == 0 || c.NATS.Replicas%2 == 1, "must be odd: an even number survives no more failures than one replica less")
	},
	"nats-domain": func(c *Config) string {
		return unless(!strings.ContainsAny(c.NATS.Domain, " .*>\t"), "must be the name of a JetStream domain, without dots, spaces and wildcards")
	},
	"console-frame-origins": func(c *Config) string { return origins(c.Limits.FrameOrigins) },
	"cors-origins":          func(c *Config) string { return origins(c.Limits.CORSOrigins) },
	"read-timeout": func(c *Config) string {
		return unless(c.Limits.ReadTimeout >= c.Limits.HeaderTimeout, "must be at least header-timeout: the headers are part of the request")
	},
	"write-timeout": func(c *Config) string {
		return unless(c.Limits.WriteTimeout > c.Limits.RequestTimeout, "must be longer than request-timeout: an operation that times out still gets a response")
	},
	"smtp-from": smtpFrom,
	"mqtt":      mqttAddress,
	"triggers-age": func(c *Config) string {
		least := cmp.Or(c.ReceiptsAge, 7*24*time.Hour)
		return unless(c.TriggersAge == 0 || c.TriggersAge >= least, "must be at least receipts-age, by default 168h: outcomes are stored by trigger")
	},
	"trace-endpoint": func(c *Config) string { return collector(c.Traces.Endpoint) },
	"trace-headers":  func(c *Config) string { return headerList(c.Traces.Headers) },
}

// natsPrefixes matches the valid prefixes of names in NATS.
var natsPrefixes = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,31}$`)

// unless returns "" if a value is valid, otherwise what a valid value would be.
func unless(valid bool, right string) string {
	if valid {
		return ""
	}
	return right
}
