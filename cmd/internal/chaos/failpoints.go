package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gridhook/gridhook/cmd/internal/blackbox"
)

// failpointEnv tells a build with failpoints where to kill itself, as
// NAME:NUMBER, the NUMBER-th time that it comes by NAME.
const failpointEnv = "GRIDHOOK_FAILPOINT"

// wrapped is a function that is given a failpoint before and after.
type wrapped struct {
	point string
	// file has the function; receiver is the type that it is a method of, empty for
	// none.
	file, receiver, name string
}

// wrappedFunctions are where something is made durable, or told to somebody.
func wrappedFunctions() []wrapped {
	const bus = "events/jetstream/bus.go"
	return []wrapped{
		{"accept", bus, "Conn", "Accept"},
		{"slice", bus, "Conn", "PutSlice"},
		{"retry", "events/jetstream/retries.go", "Conn", "PutRetries"},
		{"receipt", bus, "Conn", "PutReceipt"},
		{"ack", "events/jetstream/queue.go", "", "acknowledge"},
		{"post", "dispatcher/sender.go", "sender", "send"},
		{"again", "dispatcher/retry.go", "Worker", "handleRetry"},
		{"apply", "storage/replica/apply.go", "Replica", "apply"},
		{"fold", "events/ledger/fold.go", "Ledger", "foldReceipts"},
	}
}

// failpoints are the changes that give a build its failpoints.
func failpoints() ([]change, error) {
	source, err := blackbox.Source()
	if err != nil {
		return nil, err
	}
	changes := []change{{file: "internal/failpoint/failpoint.go", new: failpointPackage}}
	for _, w := range wrappedFunctions() {
		c, err := w.changes(source)
		if err != nil {
			return nil, err
		}
		changes = append(changes, c...)
	}
	return changes, nil
}

// changes rename the function and put one of the same signature in its place that
// calls it.
func (w *wrapped) changes(source string) ([]change, error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, filepath.Join(source, filepath.FromSlash(w.file)), nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(parsed.Decls, w.is)
	if at < 0 {
		return nil, fmt.Errorf("%s has no %s %s: bring the failpoint in line with the source", w.file, w.receiver, w.name)
	}
	decl := parsed.Decls[at].(*ast.FuncDecl)
	var text strings.Builder
	decl.Body, decl.Doc = nil, nil
	if err := printer.Fprint(&text, files, decl); err != nil {
		return nil, err
	}
	call := w.name + "Really(" + strings.Join(names(decl.Type.Params), ", ") + ")"
	if decl.Recv != nil {
		call = names(decl.Recv)[0] + "." + call
	}
	results := []string{"first", "second", "third"}[:decl.Type.Results.NumFields()]
	head := strings.SplitN(text.String(), w.name+"(", 2)[0]
	return []change{
		{file: w.file, old: head + w.name + "(", new: head + w.name + "Really("},
		{file: path.Dir(w.file) + "/failpoint_" + w.point + ".go", new: fmt.Sprintf(`package %s

import (
	%s
	"github.com/gridhook/gridhook/internal/failpoint"
)

%s {
	failpoint.Hit("%s.before")
	%s := %s
	failpoint.Hit("%s.after")
	return %[5]s
}
`, parsed.Name.Name, importsOf(parsed, text.String()), text.String(), w.point, strings.Join(results, ", "), call, w.point)},
	}, nil
}

// is reports whether a declaration is that of the function.
func (w *wrapped) is(d ast.Decl) bool {
	f, ok := d.(*ast.FuncDecl)
	if !ok || f.Name.Name != w.name || (f.Recv == nil) != (w.receiver == "") {
		return false
	}
	return f.Recv == nil || strings.TrimPrefix(types.ExprString(f.Recv.List[0].Type), "*") == w.receiver
}

// names are those of parameters.
func names(list *ast.FieldList) (all []string) {
	for _, field := range list.List {
		for _, name := range field.Names {
			all = append(all, name.Name)
		}
	}
	return all
}

// importsOf are the imports of a file that a signature needs.
func importsOf(file *ast.File, signature string) string {
	var lines []string
	for _, i := range file.Imports {
		name := path.Base(strings.Trim(i.Path.Value, `"`))
		if i.Name != nil {
			name = i.Name.Name
		}
		if strings.Contains(signature, name+".") {
			lines = append(lines, i.Path.Value)
		}
	}
	return strings.Join(lines, "\n\t")
}

const failpointPackage = `// Package failpoint kills the process at a named place.
package failpoint

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

var name, number = func() (string, int64) {
	name, n, _ := strings.Cut(os.Getenv("` + failpointEnv + `"), ":")
	number, _ := strconv.ParseInt(n, 10, 64)
	return name, number
}()

var hits atomic.Int64

// Hit is passed by.
func Hit(at string) {
	if at == name && hits.Add(1) == number {
		_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
		select {}
	}
}
`
