package observe

import (
	"fmt"
	"regexp"
	"testing"
	"time"
)

// hurry is the acceleration of the tested rules: a minute takes a second.
const hurry = 60

var (
	// spans matches the durations of rules: ranges, and the hold time of alerts.
	spans    = regexp.MustCompile(`\[[0-9a-z:]+\]|(?m)^ +for: [0-9a-z]+$`)
	duration = regexp.MustCompile(`\d+[smhd]`)
	// horizons matches the prediction horizons of rules: hours, in seconds.
	horizons = regexp.MustCompile(`(\d+) \* 3600\b`)
)

// hurried returns the rules with every duration shortened.
func hurried(texts map[string]string) map[string]string {
	out := map[string]string{}
	for name, text := range texts {
		text = horizons.ReplaceAllString(text, fmt.Sprintf("$1 * %d", 3600/hurry))
		out[name] = spans.ReplaceAllStringFunc(text, func(span string) string {
			return duration.ReplaceAllStringFunc(span, shorten)
		})
	}
	return out
}

func shorten(text string) string {
	unit := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}
	var n int
	_, _ = fmt.Sscanf(text, "%d", &n) // the pattern has digits
	return fmt.Sprintf("%dms", (time.Duration(n) * unit[text[len(text)-1]] / hurry).Milliseconds())
}

func TestRules_FasterClock(t *testing.T) {
	const rule = "expr: deriv(x[30m:1m]) > 3600 and f(y[6h], 24 * 3600) > 5\n        for: 10m\n        labels: {for: 2m}\n"
	const want = "expr: deriv(x[30000ms:1000ms]) > 3600 and f(y[360000ms], 24 * 60) > 5\n        for: 10000ms\n        labels: {for: 2m}\n"
	if got := hurried(map[string]string{"a": rule})["a"]; got != want {
		t.Errorf("got %s", got)
	}
}
