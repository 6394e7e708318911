package pricing

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
)

const timestampLayout = "2006-01-02T15:04:05.000Z"

// AppendTimestamp appends t as UTC, truncated to milliseconds. Package time formats RFC 3339
// twice as fast as any other layout, and each webhook has two timestamps.
func AppendTimestamp(dst []byte, t time.Time) []byte {
	dst = t.UTC().AppendFormat(dst, time.RFC3339)
	ms := t.Nanosecond() / int(time.Millisecond)
	return append(dst[:len(dst)-1], '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10), 'Z')
}

// timestamps renders the starts of successive quarter hours. Most steps change two to
// four digits; only midnight needs the calendar.
type timestamps struct {
	text [len(timestampLayout)]byte
	day  time.Time // any instant of the day in text
	hour int
	min  int
}

func newTimestamps(start time.Time) timestamps {
	s := timestamps{day: start.UTC()}
	s.hour, s.min = s.day.Hour(), s.day.Minute()
	s.render()
	return s
}

func (s *timestamps) render() { copy(s.text[:], AppendTimestamp(s.text[:0], s.day)) }

// advance adds one interval.
func (s *timestamps) advance() {
	s.min += int(Interval / time.Minute)
	if s.min >= 60 {
		s.min -= 60
		s.hour++
	}
	if s.hour == 24 {
		s.hour = 0
		s.day = time.Date(s.day.Year(), s.day.Month(), s.day.Day()+1, 0, s.min, 0, 0, time.UTC)
		s.render()
		return
	}
	const hourAt, minuteAt = 11, 14
	putTwoDigits(s.text[hourAt:], s.hour)
	putTwoDigits(s.text[minuteAt:], s.min)
}

func putTwoDigits(dst []byte, n int) {
	dst[0], dst[1] = byte('0'+n/10), byte('0'+n%10)
}

func appendNumbers(dst []byte, values []float64) []byte {
	from, to := 0, 0 // position in dst of the last number
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		start := len(dst)
		if i > 0 && v == values[i-1] {
			dst = append(dst, dst[from:to]...)
		} else {
			dst = appendNumber(dst, v)
		}
		from, to = start, len(dst)
	}
	return dst
}

// appendNumber appends the shortest decimal of v rounded to six decimals, without an
// exponent and without -0. NaN and infinity become null, since JSON lacks them. No curve
// of this package holds NaN or infinity.
func appendNumber(dst []byte, v float64) []byte {
	const exact = 1 << 53 // a float64 counts the millionths exactly up to this value
	millionths := math.Round(v * 1e6)
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return append(dst, "null"...)
	case math.Abs(millionths) >= exact:
		return strconv.AppendFloat(dst, v, 'f', -1, 64)
	}
	n := int64(millionths)
	if n < 0 {
		dst = append(dst, '-')
		n = -n
	}
	dst = strconv.AppendInt(dst, n/1e6, 10)
	return appendFraction(dst, n%1e6)
}

// appendFraction appends the point and up to six digits, without trailing zeros.
func appendFraction(dst []byte, millionths int64) []byte {
	if millionths == 0 {
		return dst
	}
	var digits [7]byte
	digits[0] = '.'
	for i, n := len(digits)-1, uint32(millionths); i > 0; i-- { //nolint:gosec // below a million
		digits[i] = byte('0' + n%10)
		n /= 10
	}
	end := len(digits)
	for digits[end-1] == '0' {
		end--
	}
	return append(dst, digits[:end]...)
}

func appendStringOrNull(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	return appendString(dst, s)
}

// appendString appends s as a JSON string with the default escapes of encoding/json. The
// result is also safe within HTML and JavaScript. Invalid UTF-8 becomes U+FFFD.
func appendString(dst []byte, s string) []byte {
	if !strings.ContainsFunc(s, escaped) { // such as the home's identifier, in each webhook
		return append(append(append(dst, '"'), s...), '"')
	}
	text, _ := json.Marshal(s) // a string always has a text
	return append(dst, text...)
}

// escaped reports whether encoding/json may escape a character.
func escaped(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(`"\<>&`, r) }
