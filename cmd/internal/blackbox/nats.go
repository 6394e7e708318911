package blackbox

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// NATS is a nats-server with the recommended settings: it syncs every write.
type NATS struct {
	Binary string
	// Dir is the folder of its files.
	Dir string
	// Address is the address for clients.
	Address string
	// MQTT is the address for MQTT clients, empty for none.
	MQTT string
	// Name, Cluster and Routes configure a member of a cluster. Cluster is its own route
	// address, Routes are the other members' addresses. All may be empty.
	Name, Cluster string
	Routes        []string
	// Lazy uses the server's default, a sync every two minutes.
	Lazy     bool
	Log      io.Writer
	Patience time.Duration
}

// Start starts the server and returns when it is ready.
func (n *NATS) Start() (*Process, error) {
	if err := os.MkdirAll(n.Dir, 0o700); err != nil {
		return nil, err
	}
	file := filepath.Join(n.Dir, "nats.conf")
	if err := os.WriteFile(file, []byte(n.config()), 0o600); err != nil {
		return nil, err
	}
	return Start(Spec{
		Binary: n.Binary, Args: []string{"-c", file}, Log: n.Log, Patience: n.Patience,
		Ready: func(line string) bool { return strings.Contains(line, "Server is ready") },
	})
}

func (n *NATS) config() string {
	sync := "sync_interval: always"
	if n.Lazy {
		sync = ""
	}
	text := fmt.Sprintf("listen: %q\nmax_payload: 8MB\njetstream { store_dir: %q, %s }\n", n.Address, filepath.Join(n.Dir, "js"), sync)
	if n.MQTT != "" {
		text += fmt.Sprintf("server_name: \"mqtt\"\nmqtt { listen: %q }\n", n.MQTT)
	}
	if n.Cluster == "" {
		return text
	}
	return text + fmt.Sprintf("server_name: %q\ncluster { name: gridhook, listen: %q, no_advertise: true, routes: [nats://%s] }\n",
		n.Name, n.Cluster, strings.Join(n.Routes, ", nats://"))
}
