package tour

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gridhook/gridhook/cmd/internal/blackbox"
)

// patience limits the time of one document's commands, including compilation.
const patience = 5 * time.Minute

// address matches a loopback address in the documents. Each such port is mapped to a free
// one, so that tests can run in parallel.
var address = regexp.MustCompile(`127\.0\.0\.1:\d+`)

// session is the shell of one reader.
type session struct {
	dir     string
	ports   map[string]string // address in the document -> address here
	results string            // a folder with an output file for each block
}

// newSession creates a folder that looks like a clone of this repository. Files that
// commands create at its top are removed with it.
func newSession(t *testing.T) *session {
	t.Helper()
	root := repository(t)
	s := &session{dir: t.TempDir(), results: t.TempDir(), ports: map[string]string{}}
	for _, name := range []string{
		"api", "cmd", "config", "deploy", "dispatcher", "docs", "events", "pricing", "storage", "go.mod", "go.sum",
	} {
		if err := os.Symlink(filepath.Join(root, name), filepath.Join(s.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func repository(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// here returns a text with the session's addresses instead of the document's.
func (s *session) here(t *testing.T, text string) string {
	return address.ReplaceAllStringFunc(text, func(documented string) string {
		if s.ports[documented] == "" {
			free, err := blackbox.FreeAddress()
			if err != nil {
				t.Fatal(err)
			}
			s.ports[documented] = free
		}
		return s.ports[documented]
	})
}

// jobNotice matches a shell's message about a killed job.
var jobNotice = regexp.MustCompile(`(?m)^bash: line \d+: +\d+ (?:Killed|Terminated) .*\n`)

// documented returns an output with the document's addresses.
func (s *session) documented(text string) string {
	text = jobNotice.ReplaceAllString(text, "")
	for documented, here := range s.ports {
		text = strings.ReplaceAll(text, here, documented)
	}
	return text
}

// environ returns the environment of every session.
func environ() []string {
	const local = "127.0.0.1,localhost" // which no proxy leads to
	direct := strings.Trim(os.Getenv("no_proxy")+","+os.Getenv("NO_PROXY")+","+local, ",")
	return append(blackbox.Environ(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -buildvcs=false"),
		"LC_ALL=C", "NO_COLOR=1", "no_proxy="+direct, "NO_PROXY="+direct)
}

// goHere is a function of the shell. It runs go in the repository, not in its likeness, if
// the document builds or runs commands of Gridhook. Go caches compiled packages by their
// folder. So the session uses the packages of the tests, and compiles none again.
const goHere = `go() {
	case "$*" in
	"build -o "*" ./cmd/"*) command go build -C %[1]q -o "$PWD/$3" "${@:4}" ;;
	"run ./cmd/"*) command go run -C %[1]q "${@:2}" ;;
	*) command go "$@" ;;
	esac
}
`

// compile builds the commands of the documents once, and returns their folder.
func compile(t *testing.T) (programs string) {
	t.Helper()
	programs = t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", programs+"/", "./cmd/gridhook", "./docs/examples/go-receiver", "github.com/nats-io/nats-server/v2")
	cmd.Dir, cmd.Env = repository(t), environ()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return programs
}

// haveBuilt puts the programs into the folder dist, where the documents build them. Go does
// not link a program again that is there and up to date.
func (s *session) haveBuilt(t *testing.T, programs string) {
	t.Helper()
	entries, err := os.ReadDir(programs)
	if err != nil {
		t.Fatal(err)
	}
	dist := filepath.Join(s.dir, "dist")
	if err := os.Mkdir(dist, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.Link(filepath.Join(programs, e.Name()), filepath.Join(dist, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
}

// run runs the blocks in one shell. The shell ends at the first block that fails, and run
// kills background jobs.
func (s *session) run(t *testing.T, blocks []block) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", fmt.Sprintf(goHere, repository(t))+s.here(t, s.script(blocks)))
	cmd.Dir = s.dir
	cmd.Env = append(environ(), "GRIDHOOK_HTTP="+s.here(t, "127.0.0.1:8080"), "GRIDHOOK_ADMIN="+s.here(t, "127.0.0.1:8081"),
		"GRIDHOOK_ADMIN_URL=http://"+s.here(t, "127.0.0.1:8081"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	end := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel = end
	if err := cmd.Start(); err != nil {
		return err
	}
	err := cmd.Wait()
	_ = end() // jobs that still run in the background
	if ctx.Err() != nil {
		return fmt.Errorf("the commands took longer than %s", patience)
	}
	return err
}

// script returns the blocks one after another, each with its own output and exit code
// file. A block ends at the first command that fails, and so does the shell.
func (s *session) script(blocks []block) string {
	var b strings.Builder
	b.WriteString("set -uo pipefail\n")
	for i, block := range blocks {
		out := filepath.Join(s.results, strconv.Itoa(i))
		switch {
		case block.notRun != "":
		case block.exit != 0: // it must not end the shell
			fmt.Fprintf(&b, "(\nset -e\n%[2]s\n) > %[1]s.out 2>&1\necho $? > %[1]s.exit\n", out, block.code)
		default:
			fmt.Fprintf(&b, "trap 'echo $? > %[1]s.exit' EXIT\nset -e\n{\n%[2]s\n} > %[1]s.out 2>&1\nset +e\ntrap - EXIT\necho 0 > %[1]s.exit\n", out, block.code)
		}
	}
	return b.String()
}

// result is the output and exit code of a block. ran is false if the shell did not reach
// it.
func (s *session) result(i int) (output string, exit int, ran bool, err error) {
	path := filepath.Join(s.results, strconv.Itoa(i))
	out, err := os.ReadFile(path + ".out")
	if errors.Is(err, fs.ErrNotExist) {
		return "", 0, false, nil
	}
	if err != nil {
		return "", 0, true, err
	}
	code, err := os.ReadFile(path + ".exit")
	if err != nil {
		return s.documented(string(out)), 0, true, fmt.Errorf("the block did not end: %w", err)
	}
	exit, err = strconv.Atoi(strings.TrimSpace(string(code)))
	return s.documented(string(out)), exit, true, err
}
