package tour

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// block is a group of commands in a document, with the output that the document shows.
type block struct {
	document string
	line     int // of the fence in the document
	code     string
	want     string
	shown    bool // whether the document shows the output
	exit     int
	notRun   string // why it is not run, empty if it is
}

// directive matches the comment that configures the next block.
var directive = regexp.MustCompile(`^<!-- tour: (?:not run, (.+)|exit (\d+)) -->$`)

// parse returns the blocks of a document.
func parse(document string) ([]block, error) {
	var (
		blocks   []block
		next     block  // directives for the next block
		fence    string // the language of the open fence
		open     bool
		text     []string
		adjacent bool // only blank lines since the last block
	)
	for i, line := range strings.Split(document, "\n") {
		language, isFence := strings.CutPrefix(line, "```")
		switch {
		case isFence && !open:
			open, fence, text, next.line = true, language, nil, i+1
		case isFence:
			open = false
			body := strings.Join(text, "\n")
			switch {
			case fence == "sh":
				next.code = body
				blocks = append(blocks, next)
				next, adjacent = block{}, true
			case fence == "text" && adjacent:
				last := &blocks[len(blocks)-1]
				last.want, last.shown, adjacent = body, true, false
			default:
				adjacent = false
			}
		case open:
			text = append(text, line)
		case strings.HasPrefix(line, "<!-- tour:"):
			m := directive.FindStringSubmatch(line)
			if m == nil {
				return nil, fmt.Errorf("line %d: no directive: %s", i+1, line)
			}
			next.notRun = m[1]
			next.exit, _ = strconv.Atoi(m[2]) // digits, or empty for 0
			adjacent = false
		case strings.TrimSpace(line) != "":
			adjacent = false
		}
	}
	if open {
		return nil, fmt.Errorf("line %d: the fence is not closed", next.line)
	}
	return blocks, nil
}

func TestParse(t *testing.T) {
	document := strings.Join([]string{
		"# Title", "", "```sh", "echo 1", "echo 2", "```", "", "```text", "1", "2", "```",
		"```text", "of no block", "```", "<!-- tour: exit 3 -->", "```sh", "exit 3", "```", "words", "```text", "of no block", "```",
		"<!-- tour: not run, it needs a cluster -->", "```sh", "helm", "```", "```go", "x", "```",
	}, "\n")
	got, err := parse(document)
	if err != nil {
		t.Fatal(err)
	}
	want := []block{
		{line: 3, code: "echo 1\necho 2", want: "1\n2", shown: true},
		{line: 16, code: "exit 3", exit: 3},
		{line: 24, code: "helm", notRun: "it needs a cluster"},
	}
	if len(got) != len(want) {
		t.Fatalf("got %d blocks: %+v", len(got), got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("block %d: got %+v, want %+v", i, got[i], want[i])
		}
	}
	for _, wrong := range []string{"```sh\necho", "<!-- tour: later -->"} {
		if _, err := parse(wrong); err == nil {
			t.Errorf("%q was accepted", wrong)
		}
	}
}
