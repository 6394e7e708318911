package config

import (
	"encoding"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
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
		b, err := strconv.ParseBool(text)
		if err != nil {
			return errors.New("must be true or false")
		}
		*to = b
	case *int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return errors.New("must be a whole number")
		}
		*to = n
	case *float64:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return errors.New("must be a number")
		}
		*to = f
	case *time.Duration:
		d, err := time.ParseDuration(text)
		if err != nil {
			return errors.New("must be a duration such as 30s, 15m or 168h")
		}
		*to = d
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

// kind returns the type of a field in one word, for the help and the reference.
func kind(field any) string {
	switch field.(type) {
	case *bool:
		return "bool"
	case *int:
		return "integer"
	case *float64:
		return "number"
	case *time.Duration:
		return "duration"
	case *Size:
		return "size"
	case *slog.Level:
		return "level"
	}
	return "text"
}

// cause returns the text of a file system error without the path. The caller's message
// names the path already.
func cause(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}
