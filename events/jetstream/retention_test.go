package jetstream

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/storage"
)

// TestRetentions_Complete checks that each kind of entity has one row, and that the rows of
// each stream state its age and its number of messages.
func TestRetentions_Complete(t *testing.T) {
	var kinds []storage.Kind
	text := map[string]string{}
	for _, r := range Retentions {
		kinds = append(kinds, r.Kinds...)
		text[r.Stream] += r.Bound + " " + r.Removed + "\n"
		if r.Records == "" || r.Bound == "" || r.Removed == "" || (r.Stream != stateStream && r.Kinds != nil) {
			t.Errorf("row %+v", r)
		}
	}
	slices.Sort(kinds)
	if want := slices.Sorted(slices.Values(storage.Kinds())); !slices.Equal(kinds, want) {
		t.Errorf("the rows have the kinds\n%v, want\n%v", kinds, want)
	}
	ages := map[time.Duration]string{1000 * time.Hour: "`receipts-age`", 1001 * time.Hour: "`triggers-age`", 1002 * time.Hour: "`audit-age`"}
	for _, c := range Configs(Options{Replicas: 1, ReceiptsAge: 1000 * time.Hour, TriggersAge: 1001 * time.Hour, AuditAge: 1002 * time.Hour}) {
		var says []string
		if c.MaxMsgs > 0 {
			says = append(says, thousands(c.MaxMsgs))
		}
		if age := c.MaxAge; age > 0 {
			stated := ages[age]
			if stated == "" && age%(24*time.Hour) == 0 {
				stated = fmt.Sprintf("%d days", age/(24*time.Hour))
			} else if stated == "" {
				stated = fmt.Sprintf("%d hours", age/time.Hour)
			}
			says = append(says, stated)
		}
		if text[c.Name] == "" {
			t.Errorf("%s has no row", c.Name)
		}
		for _, want := range says {
			if !strings.Contains(text[c.Name], want) {
				t.Errorf("the rows of %s do not say %q:\n%s", c.Name, want, text[c.Name])
			}
		}
		delete(text, c.Name)
	}
	if len(text) > 0 {
		t.Errorf("rows of unknown streams: %v", text)
	}
}

// thousands formats a number up to a billion.
func thousands(n int64) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%d,%03d,%03d", n/1_000_000, n/1000%1000, n%1000)
	case n >= 1000:
		return fmt.Sprintf("%d,%03d", n/1000, n%1000)
	}
	return fmt.Sprint(n)
}

// TestRetentions_InGuide checks that the operator's guide has the same table.
func TestRetentions_InGuide(t *testing.T) {
	want := "| record | stream | bound | removed |\n|---|---|---|---|\n"
	for _, r := range Retentions {
		want += fmt.Sprintf("| %s | `%s` | %s | %s |\n", r.Records, r.Stream, r.Bound, r.Removed)
	}
	guide, err := os.ReadFile("../../docs/operator-guide.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(guide), "\n\n"+want+"\n") {
		t.Errorf("docs/operator-guide.md needs this table:\n%s", want)
	}
}
