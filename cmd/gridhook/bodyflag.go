package main

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// bodyFlag is a flag that sets a field of a request. An absent flag leaves its field out.
type bodyFlag struct {
	// name is the flag's name. field is the request's field; a dot separates an object
	// from its field.
	name, field string
	// value is the default. Its type determines how the flag is parsed.
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
	// instantText is a flag for a time or a duration from now.
	instantText string
	// sets is a boolean flag that sets the field to value.
	sets struct{ value any }
	// enum is a flag with the API's spelling in lower case and with hyphens: running-total
	// for RUNNING_TOTAL.
	enum string
	// textFile and numbersFile name a file with the value: a text, or a CSV with numbers.
	textFile    struct{}
	numbersFile struct{}
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

// addFlags adds flags to a command.
func addFlags(cmd *cobra.Command, all []bodyFlag) {
	flags := cmd.Flags()
	for _, f := range all {
		switch v := f.value.(type) {
		case string:
			flags.String(f.name, v, f.help)
		case instantText:
			flags.String(f.name, string(v), f.help)
		case enum:
			flags.String(f.name, string(v), f.help)
		case textFile, numbersFile:
			flags.String(f.name, "", f.help)
		case int:
			flags.Int(f.name, v, f.help)
		case float64:
			flags.Float64(f.name, v, f.help)
		case bool:
			flags.Bool(f.name, v, f.help)
		case sets:
			flags.Bool(f.name, false, f.help)
		case []string:
			flags.StringSlice(f.name, v, f.help)
		case headers:
			flags.StringArray(f.name, nil, f.help)
		case span:
			flags.Var(&v, f.name, f.help)
		}
		if f.words != nil {
			completes(cmd, f.name, f.words...)
		}
		if f.required {
			_ = cmd.MarkFlagRequired(f.name) // it was added above
		}
	}
}

// requestOf returns the request's body from the flags that were given.
func requestOf(cmd *cobra.Command, all []bodyFlag) (fields, error) {
	body := fields{}
	for _, f := range all {
		given := cmd.Flags().Lookup(f.name)
		_, isSets := f.value.(sets)
		if !given.Changed || isSets && given.Value.String() == "false" {
			continue
		}
		value, err := f.read(cmd)
		if err != nil {
			return nil, err
		}
		body.set(f.field, value)
	}
	return body, nil
}

// read returns the value of a flag that was given.
func (f bodyFlag) read(cmd *cobra.Command) (any, error) {
	flags := cmd.Flags()
	text := flags.Lookup(f.name).Value.String()
	switch v := f.value.(type) {
	case instantText:
		return instant("--"+f.name, text, time.Now())
	case enum:
		return strings.ToUpper(strings.ReplaceAll(text, "-", "_")), nil
	case textFile:
		content, err := readFile(text, cmd.InOrStdin())
		return strings.TrimSpace(string(content)), err
	case numbersFile:
		return readNumbers(text, cmd.InOrStdin())
	case int:
		return flags.GetInt(f.name)
	case float64:
		return flags.GetFloat64(f.name)
	case bool:
		return flags.GetBool(f.name)
	case sets:
		return v.value, nil
	case []string:
		return flags.GetStringSlice(f.name)
	case headers:
		lines, err := flags.GetStringArray(f.name)
		if err != nil {
			return nil, err
		}
		return readHeaders(f.name, lines)
	case span:
		return flags.Lookup(f.name).Value.(*span).units(f.name)
	}
	return text, nil
}

// Set parses a duration or a number of units.
func (s *span) Set(text string) error {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		s.Duration = time.Duration(n * float64(s.unit))
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

// String formats the duration without the zeros of 24h0m0s.
func (s *span) String() string { return short(s.Duration) }

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
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, usagef("--%s must be \"Name: value\", not %q", flag, line)
		}
		headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return headers, nil
}
