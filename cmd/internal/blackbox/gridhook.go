package blackbox

import (
	"cmp"
	"io"
	"strings"
	"sync"
	"time"
)

// Gridhook is a running Gridhook.
type Gridhook struct {
	*Process
	Data string
	// API and Admin are its addresses. A worker has no API.
	API, Admin string
}

// Run describes a Gridhook to run.
type Run struct {
	Binary string
	// Role is serve, api or worker.
	Role, Data string
	// HTTP and Admin are the addresses to listen on; empty selects free addresses.
	HTTP, Admin string
	// Args are additional flags. Env are additional variables.
	Args, Env []string
	Log       io.Writer
	Patience  time.Duration
}

// StartGridhook starts Gridhook and returns when it is ready. Webhooks may go to any
// address.
func StartGridhook(r Run) (*Gridhook, error) {
	args := []string{r.Role, "--data", r.Data, "--admin", cmp.Or(r.Admin, anyPort), "--allow-private-destinations"}
	if r.Role != "worker" {
		args = append(args, "--http", cmp.Or(r.HTTP, anyPort))
	}
	g := &Gridhook{Data: r.Data}
	var mu sync.Mutex
	process, err := Start(Spec{
		Binary: r.Binary, Args: append(args, r.Args...), Env: r.Env, Log: r.Log, Patience: r.Patience,
		Ready: func(line string) bool {
			name, rest, _ := strings.Cut(line, " ")
			value, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
			mu.Lock()
			defer mu.Unlock()
			switch name {
			case "API":
				g.API = value
			case "admin":
				g.Admin = value
			}
			return name == "ready"
		},
	})
	g.Process = process
	return g, err
}

// anyPort is a free address on the loopback.
const anyPort = "127.0.0.1:0"
