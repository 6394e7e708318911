package config

import (
	"encoding"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"reflect"
	"strconv"
	"time"
)

// parse stores the value of a text in the variable that field points to. Its error says
// what a valid text would be.
func parse(field any, text string) error {
	switch to := field.(type) {
	case *string:
		*to = text
	case *bool:
		return set(to, strconv.ParseBool, text, "must be true or false")
	case *int:
		return set(to, strconv.Atoi, text, "must be a whole number")
	case *float64:
		return set(to, func(text string) (float64, error) { return strconv.ParseFloat(text, 64) }, text, "must be a number")
	case *time.Duration:
		return set(to, time.ParseDuration, text, "must be a duration such as 30s, 15m or 168h")
	case *slog.Level:
		if to.UnmarshalText([]byte(text)) != nil {
			return errors.New("must be debug, info, warn or error")
		}
	case encoding.TextUnmarshaler:
		return to.UnmarshalText([]byte(text))
	default:
		return fmt.Errorf("has the type %T, which cannot be set", field)
	}
	return nil
}

// set stores the value of a text. If the text has none, the error says what would be right.
func set[T any](to *T, parse func(string) (T, error), text, right string) error {
	v, err := parse(text)
	if err != nil {
		return errors.New(right)
	}
	*to = v
	return nil
}

// kinds has the types of settings in one word, for the help and the reference. Every other
// type is a text.
var kinds = map[reflect.Type]string{
	reflect.TypeFor[bool](): "bool", reflect.TypeFor[int](): "integer", reflect.TypeFor[float64](): "number",
	reflect.TypeFor[time.Duration](): "duration", reflect.TypeFor[Size](): "size", reflect.TypeFor[slog.Level](): "level",
}

// cause returns the text of a file system error without the path. The caller's message
// names the path already.
func cause(err error) string {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err.Error()
	}
	return err.Error()
}
