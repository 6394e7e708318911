package blackbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"go.etcd.io/gofail/code"
)

// FailpointEnv names the variable with the active failpoints of a build with failpoints.
// Its format is NAME=TERMS, separated by semicolons: see go.etcd.io/gofail.
const FailpointEnv = "GOFAIL_FAILPOINTS"

// BuildWithFailpoints builds Gridhook with its failpoints into a file of a folder.
func BuildWithFailpoints(dir string) (binary string, err error) {
	overlay, _, err := EnableFailpoints(dir)
	if err != nil {
		return "", err
	}
	binary = filepath.Join(dir, "gridhook-failpoints")
	return binary, BuildGridhook(binary, "-overlay", overlay)
}

// EnableFailpoints turns the gofail comments of the source into code. It writes copies of
// the files, which go build reads through an overlay (-overlay). It returns the overlay's
// file, and the failpoints' names by package folder.
func EnableFailpoints(dir string) (overlay string, names map[string][]string, err error) {
	source, err := Source()
	if err != nil {
		return "", nil, err
	}
	copies := overlayDir{dir: filepath.Join(dir, "overlay"), Replace: map[string]string{}}
	names = map[string][]string{}
	err = filepath.WalkDir(source, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != source && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "cmd" || entry.Name() == "node_modules"):
			return fs.SkipDir
		case entry.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		found, err := copies.enable(path)
		if folder := filepath.Dir(path); len(found) > 0 {
			names[folder] = append(names[folder], found...)
		}
		return err
	})
	if err != nil {
		return "", nil, err
	}
	list, err := json.Marshal(copies)
	if err != nil {
		return "", nil, err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return overlay, names, os.WriteFile(overlay, list, 0o600)
}

// overlayDir is a folder of files that replace others in a build.
type overlayDir struct {
	dir     string
	Replace map[string]string
}

func (o *overlayDir) write(path string, text []byte) error {
	o.Replace[path] = filepath.Join(o.dir, path)
	if err := os.MkdirAll(filepath.Dir(o.Replace[path]), 0o700); err != nil {
		return err
	}
	return os.WriteFile(o.Replace[path], text, 0o600) //nolint:gosec // the path is that of our own source
}

// bare matches a failpoint without code of its own.
var bare = regexp.MustCompile(`(?m)^(\t*// gofail: var \w+ struct\{\}\n)(\t*[^\t/])`)

// crash is the code of a bare failpoint.
const crash = `

func crash() {
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
	select {}
}
`

// enable adds a copy of a file with failpoints and returns their names.
func (o *overlayDir) enable(path string) (names []string, err error) {
	text, err := os.ReadFile(path) //nolint:gosec // it is our own source
	if err != nil || !bytes.Contains(text, []byte("// gofail:")) {
		return nil, err
	}
	var enabled, binding bytes.Buffer
	points, err := code.ToFailpoints(&enabled, bytes.NewReader(bare.ReplaceAll(text, []byte("$1// crash()\n$2"))))
	if err != nil {
		return nil, err
	}
	for _, p := range points {
		names = append(names, p.Name())
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), path, text, parser.PackageClauseOnly)
	if err != nil {
		return nil, err
	}
	pkg := parsed.Name.Name
	if err := code.NewBinding(pkg, points).Write(&binding); err != nil {
		return nil, err
	}
	base := strings.TrimSuffix(path, ".go")
	return names, errors.Join(
		o.write(path, enabled.Bytes()),
		o.write(base+".fail.go", binding.Bytes()),
		o.write(filepath.Join(filepath.Dir(path), "crash.fail.go"), []byte("package "+pkg+"\n\nimport \"syscall\""+crash)),
	)
}
