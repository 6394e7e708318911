package main

import (
	"bytes"
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gridhook/gridhook/storage"
)

// bodyFlag is a flag that sets a field of a request. An absent flag leaves its field out,
// except limit: without it, a list command would read every page.
type bodyFlag struct {
	// name is the flag's name. field is the request's field, if it has another name; a dot
	// separates an object from its field.
	name, field string
	// value is the default. Its type determines how the flag is parsed: nil is a text without
	// a default.
	value any
	help  string
	// words are the values for shell completion. required marks a required flag.
	words    []string
	required bool
}

// These are the types of flags whose field is not the flag's text.
type (
	// span is a flag for a duration, such as 15m, in a field that counts units. A number
	// without a unit counts units, too.
	span struct {
		time.Duration
		unit time.Duration
	}
	// headers is a flag for headers in the form "Name: value".
	headers struct{}
	// assignments is a flag for values by name in the form name=value.
	assignments struct{}
	// instantText is a flag for a time or a duration from now.
	instantText string
	// pastText is a flag for a time or a duration before now. The sign does not matter.
	pastText string
	// sets is a boolean flag that sets the field to value.
	sets struct{ value any }
	// enum is a flag with a value that the API spells differently: see apiSpelling. enums is a
	// repeatable one.
	enum  string
	enums []string
	// fileOf is a flag for a file whose content the function parses.
	fileOf func(content []byte) (any, error)
)

// textFile is a flag for a file with a text. It refuses an empty file, because the server
// would generate a secret or keep the stored one. textOrNone is a flag for a file that may
// be empty.
var (
	textOrNone fileOf = func(content []byte) (any, error) { return strings.TrimSpace(string(content)), nil }
	textFile   fileOf = func(content []byte) (any, error) {
		if len(bytes.TrimSpace(content)) == 0 {
			return nil, usagef("the file is empty")
		}
		return textOrNone(content)
	}
)

// fields is the body of a request.
type fields map[string]any

// set sets a field.
func (r fields) set(field string, value any) {
	outer, inner, nested := strings.Cut(field, ".")
	if !nested {
		r[field] = value
		return
	}
	object, ok := r[outer].(fields)
	if !ok {
		object = fields{}
		r[outer] = object
	}
	object.set(inner, value)
}

// addFlags adds flags to a command. The returned function makes a request's body from the
// flags that were given.
func addFlags(cmd *cobra.Command, all []bodyFlag) (read func() (fields, error)) {
	values := make([]func() (any, error), len(all))
	for i := range all {
		f := &all[i]
		f.field = cmp.Or(f.field, f.name)
		values[i] = f.add(cmd)
		if f.words != nil {
			_ = cmd.RegisterFlagCompletionFunc(f.name, cobra.FixedCompletions(f.words, cobra.ShellCompDirectiveNoFileComp)) // it was added above
		}
		if f.required {
			_ = cmd.MarkFlagRequired(f.name) // it was added above
		}
	}
	return func() (fields, error) {
		body := fields{}
		for i, f := range all {
			given := cmd.Flags().Lookup(f.name)
			if _, isSets := f.value.(sets); !given.Changed && f.field != "limit" || isSets && given.Value.String() == "false" {
				continue
			}
			value, err := values[i]()
			if err != nil {
				return nil, err
			}
			if at, ok := value.(*storage.Time); ok && at == nil { // an empty text
				continue
			}
			if n, _ := value.(int); f.field == "limit" && n < 0 {
				return nil, usagef("--limit must be 0 or more, not %d", n)
			}
			body.set(f.field, value)
		}
		return body, nil
	}
}

// add adds the flag to a command. The returned function returns the value of the field.
func (f bodyFlag) add(cmd *cobra.Command) func() (any, error) {
	flags := cmd.Flags()
	text := func(usual string, convert func(text string) (any, error)) func() (any, error) {
		given := flags.String(f.name, usual, f.help)
		return func() (any, error) { return convert(*given) }
	}
	switch v := f.value.(type) {
	case nil:
		return pointed(flags.String(f.name, "", f.help))
	case int:
		return pointed(flags.Int(f.name, v, f.help))
	case float64:
		return pointed(flags.Float64(f.name, v, f.help))
	case bool:
		return pointed(flags.Bool(f.name, v, f.help))
	case []string:
		return pointed(flags.StringSlice(f.name, v, f.help))
	case sets:
		flags.Bool(f.name, false, f.help)
		return func() (any, error) { return v.value, nil }
	case span:
		flags.Var(&v, f.name, f.help)
		return func() (any, error) { return v.units(f.name) }
	case headers:
		lines := flags.StringArray(f.name, nil, f.help)
		return func() (any, error) { return readHeaders(f.name, *lines) }
	case assignments:
		given := flags.StringToString(f.name, map[string]string{}, f.help)
		flag := flags.Lookup(f.name)
		flag.Value = clearable{flag.Value}
		return pointed(given)
	case instantText:
		return text(string(v), func(text string) (any, error) { return instant("--"+f.name, text, time.Now()) })
	case pastText:
		return text(string(v), func(text string) (any, error) {
			if d, err := time.ParseDuration(text); err == nil {
				text = (-d.Abs()).String()
			}
			return instant("--"+f.name, text, time.Now())
		})
	case enum:
		return text(string(v), func(text string) (any, error) { return apiSpelling(text), nil })
	case enums:
		given := flags.StringSlice(f.name, v, f.help)
		return func() (any, error) { return strings.Split(apiSpelling(strings.Join(*given, ",")), ","), nil }
	case fileOf:
		return text("", func(name string) (any, error) { return readAs(name, cmd.InOrStdin(), v) })
	}
	return pointed(flags.String(f.name, f.value.(string), f.help))
}

// pointed returns a function that returns the value of a flag.
func pointed[T any](value *T) func() (any, error) {
	return func() (any, error) { return *value, nil }
}

// apiSpelling returns the API's spelling of a value: RUNNING_TOTAL for running-total.
func apiSpelling(text string) string { return strings.ToUpper(strings.ReplaceAll(text, "-", "_")) }

// clearable is a flag whose empty text sets nothing, so that a single empty text clears the
// field.
type clearable struct{ pflag.Value }

func (c clearable) Set(text string) error {
	if text == "" {
		return nil
	}
	return c.Value.Set(text)
}

// Set parses a duration or a number of units. It refuses a number that overflows a
// duration, such as inf or 1e12.
func (s *span) Set(text string) error {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		n *= float64(s.unit)
		switch {
		case math.IsNaN(n) || math.IsInf(n, 0):
			return errDuration
		case math.Abs(n) >= math.MaxInt64:
			return errLongDuration
		}
		s.Duration = time.Duration(n)
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return errDuration
	}
	s.Duration = d
	return nil
}

// Type returns the type that the help shows.
func (s *span) Type() string { return "duration" }

// String formats the duration without the zeros of 24h0m0s. The help shows no default 0.
func (s *span) String() string {
	if s.Duration == 0 {
		return "0"
	}
	return short(s.Duration)
}

// units returns the number of units. In requests, minutes and longer units are whole
// numbers.
func (s *span) units(flag string) (any, error) {
	n := float64(s.Duration) / float64(s.unit)
	whole := int(n)
	switch {
	case float64(whole) == n:
		return whole, nil
	case s.unit >= time.Minute:
		return nil, usagef("--%s must be in whole minutes, not %s", flag, s.Duration)
	}
	return n, nil
}

func readHeaders(flag string, lines []string) (map[string]string, error) {
	headers := map[string]string{}
	for _, line := range lines {
		if line == "" { // a single empty line clears the headers
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, usagef("--%s must be \"Name: value\", not %q", flag, line)
		}
		headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return headers, nil
}
