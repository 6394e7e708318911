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

// cronText is what an expression is made of.
var cronText = regexp.MustCompile(`^[0-9A-Za-z*/,\- \t]{1,255}$`)

// cronParser reads the five fields.
var cronParser = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)

// CheckCron says what is wrong with an expression of five fields, nil when it is
// fine. Lists, ranges, steps and the names of months and days are understood,
// Sunday is 0; where day of month and day of week are both restricted, either is
// enough, as in crontab(5).
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

// nextCron is the first time after another that an expression names on a place's
// clock, zero when there is none in the next five years.
//
// Where the clock is put forward or back, it is as in Vixie's cron(8): what comes
// every so often goes on as time does, in both passes of an hour that comes twice;
// what has its hour comes once, the first time, or when the clock has jumped over
// it, at that moment.
func nextCron(text string, location *time.Location, after time.Time) time.Time {
	rule, err := cronParser.Parse(text)
	if err != nil {
		return time.Time{}
	}
	if hour := strings.Fields(text)[1]; strings.HasPrefix(hour, "*") {
		return nextEven(rule, location, after)
	}
	// Read off the clock as if it ran evenly, and only then look what time it is.
	for wall := onEvenClock(after.In(location)); ; {
		if wall = rule.Next(wall); wall.IsZero() {
			return wall
		}
		if t := firstAt(wall, location); t.After(after) {
			return t.UTC()
		}
	}
}

// nextEven is the first time that a rule names on a clock that runs evenly until
// it is put forward or back, and then again.
func nextEven(rule cron.Schedule, location *time.Location, after time.Time) time.Time {
	for here := after.In(location); ; {
		_, end := here.ZoneBounds()
		_, offset := here.Zone()
		t := rule.Next(after.In(time.FixedZone("", offset)))
		if t.IsZero() || end.IsZero() || t.Before(end) {
			return utc(t)
		}
		here, after = end, end.Add(-1)
	}
}

// onEvenClock is what a clock shows, as a time in UTC.
func onEvenClock(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}

// firstAt is when a place's clock first shows a time, or when it jumps over it.
func firstAt(wall time.Time, location *time.Location) time.Time {
	t := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), 0, 0, location)
	start, end := t.ZoneBounds()
	switch shown := onEvenClock(t); {
	case shown.After(wall): // jumped over: t is as far behind the jump as wall is
		return start
	case shown.Before(wall): // jumped over: t is before it
		return end
	}
	if start.IsZero() {
		return t
	}
	// It may have been shown before the clock was put back.
	_, now := t.Zone()
	_, before := start.Add(-1).Zone()
	if earlier := t.Add(time.Duration(now-before) * time.Second); before > now && earlier.Before(start) {
		return earlier
	}
	return t
}

// utc is the time in UTC, the zero time as it is.
func utc(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC()
}
