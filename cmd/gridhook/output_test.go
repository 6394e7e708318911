package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// The JSON of a text that controls the terminal or the direction of text has no such character,
// and decodes to the same text.
func TestShowJSON_ControlCharacters(t *testing.T) {
	const text = "\x1b[2J\x7f\u009b31m\u202egnp\u2066 é \u2028\n<b>"
	var out strings.Builder
	g := &globals{out: &out, output: outputJSON}
	if err := g.show(map[string]string{"answer": text}, nil); err != nil {
		t.Fatal(err)
	}
	if shown := strings.ReplaceAll(out.String(), "\n", ""); strings.ContainsFunc(shown, steers) || !strings.Contains(shown, "é") || !strings.Contains(shown, "<b>") {
		t.Errorf("shown as %q", shown)
	}
	var got map[string]string
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil || got["answer"] != text {
		t.Errorf("decodes to %q, %v", got, err)
	}
}
