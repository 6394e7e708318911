package blackbox

import (
	"io"
	"strings"
	"sync"
	"time"
)

// Gridhook is a Gridhook that runs.
type Gridhook struct {
	*Process
	Data string
	// API and Admin are where it listens; a worker has no API.
	API, Admin string
}

// Run says how to run Gridhook.
type Run struct {
	Binary string
	// Role is serve, api or worker.
	Role, Data string
	// HTTP and Admin are the addresses to listen on; empty takes free ones.
	HTTP, Admin string
	// Args are further flags, Env further variables.
	Args, Env []string
	Log       io.Writer
	Patience  time.Duration
}

// StartGridhook starts Gridhook with webhooks allowed to go anywhere, and returns
// when it is ready.
func StartGridhook(r Run) (*Gridhook, error) {
	args := []string{r.Role, "--data", r.Data, "--admin", free(r.Admin), "--allow-private-destinations"}
	if r.Role != "worker" {
		args = append(args, "--http", free(r.HTTP))
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

func free(address string) string {
	if address == "" {
		return "127.0.0.1:0"
	}
	return address
}
