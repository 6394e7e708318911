package storage

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

var (
	errCronForm  = errors.New("must have five fields: minute, hour, day of month, month and day of week, such as 30 13 * * 1-5")
	errCronNever = errors.New("names a time that never comes")
)

// cronText matches the characters that an expression may contain.
var cronText = regexp.MustCompile(`^[0-9A-Za-z*/,\- \t]{1,255}$`)

// cronParser parses the five fields.
var cronParser = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)

// CheckCron returns an error if an expression of five fields is not valid. Lists, ranges,
// steps and the names of months and days are allowed. Sunday is 0. If day of month and
// day of week are both restricted, either matches, as in crontab(5).
func CheckCron(text string, location *time.Location) error {
	if !cronText.MatchString(text) || len(strings.Fields(text)) != 5 {
		return errCronForm
	}
	if _, err := cronParser.Parse(text); err != nil {
		return fmt.Errorf("cannot be read: %w", err)
	}
	if nextCron(text, location, time.Date(2024, time.January, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return errCronNever
	}
	return nil
}

// nextCron returns the first time after a given time that an expression names on a
// place's clock. It returns the zero time if there is none in the next five years.
//
// When the clock is put forward or back, nextCron follows Vixie's cron(8). A rule whose
// hour field begins with * follows elapsed time, in both passes of a repeated hour. A
// rule with fixed hours runs once, in the first pass of a repeated hour. If the clock
// skips that hour, the rule runs at the moment of the jump.
func nextCron(text string, location *time.Location, after time.Time) time.Time {
	rule, err := cronParser.Parse(text)
	if err != nil {
		return time.Time{}
	}
	if hour := strings.Fields(text)[1]; strings.HasPrefix(hour, "*") {
		return nextEven(rule, location, after)
	}
	// Evaluate the rule on a clock that runs evenly, then convert the result to real
	// time.
	for wall := onEvenClock(after.In(location)); ; {
		if wall = rule.Next(wall); wall.IsZero() {
			return wall
		}
		if t := firstAt(wall, location); t.After(after) {
			return t.UTC()
		}
	}
}

// nextEven returns the first time that a rule names. It treats the clock as even between
// two changes of its offset.
func nextEven(rule cron.Schedule, location *time.Location, after time.Time) time.Time {
	for here := after.In(location); ; {
		_, end := here.ZoneBounds()
		_, offset := here.Zone()
		t := rule.Next(after.In(time.FixedZone("", offset)))
		if t.IsZero() || end.IsZero() || t.Before(end) {
			return t.UTC()
		}
		here, after = end, end.Add(-1)
	}
}

// onEvenClock returns the time that a clock shows, as a time in UTC.
func onEvenClock(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}

// firstAt returns when a place's clock first shows a time, or when it jumps over it.
func firstAt(wall time.Time, location *time.Location) time.Time {
	t := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), 0, 0, location)
	start, end := t.ZoneBounds()
	switch shown := onEvenClock(t); {
	case shown.After(wall): // skipped: t is as far behind the jump as wall is
		return start
	case shown.Before(wall): // skipped: t is before the jump
		return end
	}
	if start.IsZero() {
		return t
	}
	// The clock may have shown the time before it was put back.
	_, now := t.Zone()
	_, before := start.Add(-1).Zone()
	if earlier := t.Add(time.Duration(now-before) * time.Second); before > now && earlier.Before(start) {
		return earlier
	}
	return t
}
