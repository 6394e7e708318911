package redact

import "testing"

// A text that ends within a secret does not show the beginning of the secret.
func TestMaskCut_End(t *testing.T) {
	m := New("opaque-key", "opa/que", "")
	for text, want := range map[string]string{
		"":                          "",
		"the opaque-key, and opaqu": "the ********, and ********",
		"the opaque-key":            "the ********",
		"the opaque-k":              "the ********",
		"the opa":                   "the opa",
		"the opa%2F":                "the ********",
		"b3BhcXVlLWtleQ":            "********",
	} {
		if got := m.MaskCut(text, MinLength); got != want {
			t.Errorf("%q is masked as %q, want %q", text, got, want)
		}
	}
	if got := New().MaskCut("the key", 1); got != "the key" {
		t.Errorf("without secrets: %q", got)
	}
}
