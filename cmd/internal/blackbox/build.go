package blackbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	module      = "github.com/gridhook/gridhook"
	natsPackage = "github.com/nats-io/nats-server/v2"
)

// Binaries are the paths of the programs.
type Binaries struct{ Gridhook, NATS string }

// Build builds gridhook from this tree and the module's pinned nats-server into a folder.
func Build(dir string) (Binaries, error) {
	b := Binaries{Gridhook: filepath.Join(dir, "gridhook"), NATS: filepath.Join(dir, "nats-server")}
	if err := BuildGridhook(b.Gridhook); err != nil {
		return b, err
	}
	return b, build(b.NATS, natsPackage)
}

// BuildGridhook builds gridhook into a file, with additional build flags.
func BuildGridhook(file string, args ...string) error {
	return build(file, module+"/cmd/gridhook", args...)
}

// build builds a program into a file. Only go run stores linked programs in the build
// cache, so that test packages that need the same program do not each link it.
func build(file, pkg string, args ...string) error {
	args = append([]string{"run", "-exec", "cp"}, append(args, pkg, file)...)
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil { //nolint:gosec,noctx // the arguments are ours, and a build ends
		return fmt.Errorf("build %s: %w\n%s", pkg, err, out)
	}
	return nil
}

// Source returns the folder of the module's source.
func Source() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output() //nolint:noctx // it ends
	if err != nil {
		return "", fmt.Errorf("find the module's source: %w", err)
	}
	dir := strings.TrimSpace(string(out))
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		return "", err
	}
	return dir, nil
}
