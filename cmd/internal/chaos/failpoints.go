package main

import (
	"fmt"
	"path"
	"strconv"
	"strings"
)

// failpointEnv tells a build with failpoints where to kill itself, as
// NAME:NUMBER, the NUMBER-th time that it comes by NAME.
const failpointEnv = "GRIDHOOK_FAILPOINT"

// wrapped is a function that is given a failpoint before and after.
type wrapped struct {
	point string
	// file has the function; receiver, name, params and results are its
	// signature, args the names of the params.
	file, receiver, name, params, results, args string
}

// wrappedFunctions are where something is made durable, or told to somebody.
func wrappedFunctions() []wrapped {
	const bus, ctx = "events/jetstream/bus.go", "ctx context.Context, "
	return []wrapped{
		{point: "accept", file: bus, receiver: "(c *Conn) ", name: "Accept", params: ctx + "t events.Trigger", results: "(uint64, error)", args: "ctx, t"},
		{point: "slice", file: bus, receiver: "(c *Conn) ", name: "PutSlice", params: ctx + "s events.Slice", results: "error", args: "ctx, s"},
		{point: "retry", file: bus, receiver: "(c *Conn) ", name: "PutRetries", params: ctx + "r []events.Retry", results: "error", args: "ctx, r"},
		{point: "receipt", file: bus, receiver: "(c *Conn) ", name: "PutReceipt", params: ctx + "r events.Receipt", results: "error", args: "ctx, r"},
		{point: "ack", file: "events/jetstream/queue.go", name: "acknowledge", params: "ctx context.Context, m jetstream.Msg", results: "error", args: "ctx, m"},
		{point: "post", file: "dispatcher/sender.go", receiver: "(s *sender) ", name: "send", params: ctx + "e *endpoint, id string, body []byte, now func() time.Time", results: "attempt", args: "ctx, e, id, body, now"},
		{point: "again", file: "dispatcher/retry.go", receiver: "(w *Worker) ", name: "handleRetry", params: ctx + "r events.Retry, taken events.Taken", results: "error", args: "ctx, r, taken"},
		{point: "apply", file: "storage/replica/apply.go", receiver: "(r *Replica) ", name: "apply", params: "records []storage.Record", results: "error", args: "records"},
		{point: "fold", file: "events/ledger/fold.go", receiver: "(l *Ledger) ", name: "foldReceipts", params: "batch []events.Sequenced[events.Receipt]", results: "error", args: "batch"},
	}
}

// failpoints are the changes that give a build its failpoints.
func failpoints() []change {
	changes := []change{{file: "internal/failpoint/failpoint.go", new: failpointPackage}}
	for _, w := range wrappedFunctions() {
		changes = append(changes, w.changes()...)
	}
	return changes
}

// changes rename the function and put one in its place that calls it.
func (w *wrapped) changes() []change {
	receiver, caller := "", ""
	if w.receiver != "" {
		receiver, caller = w.receiver, w.receiver[1:2]+"."
	}
	values, last := "a", ""
	if w.results[0] == '(' {
		values, last = "a, b", ", b"
	}
	folder, pkg := folderOf(w.file)
	return []change{
		{file: w.file, old: "func " + receiver + w.name + "(", new: "func " + receiver + w.name + "Really("},
		{file: folder + "/failpoint_" + w.point + ".go", new: fmt.Sprintf(`package %s

import (
	%s
	"github.com/gridhook/gridhook/internal/failpoint"
)

func %s%s(%s) %s {
	failpoint.Hit("%s.before")
	%s := %s%sReally(%s)
	failpoint.Hit("%s.after")
	return a%s
}
`, pkg, importsOf(w.params), receiver, w.name, w.params, w.results, w.point, values, caller, w.name, w.args, w.point, last)},
	}
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

// folderOf splits a file's path into its folder and the package's name.
func folderOf(file string) (folder, pkg string) {
	folder = path.Dir(file)
	return folder, path.Base(folder)
}

// importsOf are the imports that a list of parameters needs.
func importsOf(params string) string {
	var lines []string
	for _, i := range []struct{ name, path string }{
		{"context.", "context"},
		{"time.", "time"},
		{"events.", "github.com/gridhook/gridhook/events"},
		{"storage.", "github.com/gridhook/gridhook/storage"},
		{"jetstream.", "github.com/nats-io/nats.go/jetstream"},
	} {
		if strings.Contains(params, i.name) {
			lines = append(lines, strconv.Quote(i.path))
		}
	}
	return strings.Join(lines, "\n\t")
}
