package config

import "slices"

// Setting is one thing that an operator can say.
type Setting struct {
	// Name is the flag and the key in the file.
	Name string
	// Default is what holds when nothing is said, in the form in which it
	// would be said.
	Default string
	Help    string
	// Roles take the setting.
	Roles []Role
	// Required lists the roles that cannot do without.
	Required []Role

	field  func(*Config) any      // a pointer to where the value goes
	check  func(c *Config) string // what would be right, "" when it is
	shown  func(string) string    // what may be printed of a secret
	secret bool
}

// Env is the setting's environment variable.
func (s *Setting) Env() string { return envName(s.Name) }

// TakenBy reports whether processes of the role take the setting.
func (s *Setting) TakenBy(r Role) bool { return slices.Contains(s.Roles, r) }

var (
	everywhere = []Role{Serve, API, Worker}
	answering  = []Role{Serve, API}
	delivering = []Role{Serve, Worker}
	external   = []Role{API, Worker}
)

// Settings are all settings, in the order in which the reference lists them.
func Settings() []Setting {
	return slices.Concat(processSettings(), secretSettings(), natsSettings(),
		certificate("nats", external, "this process, PEM", "", func(c *Config) *KeyPair { return &c.NATS.KeyPair }),
		deliverySettings(), limitSettings(), connectionSettings(), storeSettings(), traceSettings())
}

func processSettings() []Setting {
	return []Setting{
		{
			Name: "data", Default: "./gridhook-data", Roles: everywhere,
			Help:  "the folder of this process's files; made when it is not there",
			field: func(c *Config) any { return &c.Data }, check: func(c *Config) string { return filled(c.Data, "a folder") },
		},
		{
			Name: "http", Default: "127.0.0.1:8080", Roles: answering,
			Help:  "the address of the API for partners; port 0 takes a free one",
			field: func(c *Config) any { return &c.HTTP }, check: func(c *Config) string { return address(c.HTTP) },
		},
		{
			Name: "admin", Default: "127.0.0.1:8081", Roles: everywhere,
			Help:  "the address of the admin API, the metrics and the health checks; keep it private",
			field: func(c *Config) any { return &c.Admin }, check: adminAddress,
		},
		{
			Name: "operator-key", Roles: everywhere, secret: true, shown: masked,
			Help:  "the key of the admin API and of profiles, at least 16 characters; by default the one in the file operator.key of the data folder, made at the first start",
			field: func(c *Config) any { return &c.OperatorKey }, check: operatorKey,
		},
		{
			Name: "memory-limit", Default: "0", Roles: everywhere,
			Help:  "the memory that the process may use, such as 2GiB, kept by the garbage collector; 0 for nine tenths of the control group's or the machine's",
			field: func(c *Config) any { return &c.MemoryLimit }, check: memoryLimit,
		},
		{
			Name: "profiles", Default: "false", Roles: everywhere,
			Help:  "serve profiles of the running process under /debug/pprof/ of the admin address, to the operator's key",
			field: func(c *Config) any { return &c.Profiles },
		},
		{
			Name: "log-level", Default: "info", Roles: everywhere,
			Help:  "the least that is logged: debug, info, warn or error",
			field: func(c *Config) any { return &c.LogLevel },
		},
		{
			Name: "log-format", Default: "json", Roles: everywhere,
			Help:  "json, or text for people",
			field: func(c *Config) any { return &c.LogFormat },
		},
	}
}

func natsSettings() []Setting {
	return []Setting{
		{
			Name: "nats", Roles: external, Required: external, secret: true, shown: withoutPassword,
			Help:  "the URL of the NATS servers, several with commas between them, such as nats://10.0.0.5:4222",
			field: func(c *Config) any { return &c.NATS.URL }, check: func(c *Config) string { return natsURL(c.NATS.URL) },
		},
		{
			Name: "nats-creds", Roles: external,
			Help:  "the file of the NATS user's credentials",
			field: func(c *Config) any { return &c.NATS.Credentials }, check: func(c *Config) string { return readable(c.NATS.Credentials) },
		},
		{
			Name: "nats-ca", Roles: external,
			Help:  "the file of the certificate authorities to trust, PEM; by default the system's",
			field: func(c *Config) any { return &c.NATS.CA }, check: func(c *Config) string { return readable(c.NATS.CA) },
		},
		{
			Name: "nats-replicas", Default: "1", Roles: external,
			Help:  "how many NATS servers keep each stream: 1, or 3 on a cluster",
			field: func(c *Config) any { return &c.NATS.Replicas }, check: func(c *Config) string { return upTo(c.NATS.Replicas, 5) },
		},
	}
}

func deliverySettings() []Setting {
	return []Setting{
		{
			Name: "allow-private-destinations", Default: "false", Roles: everywhere,
			Help:  "let webhooks go to http, any port, and loopback or private addresses: for tests and demos",
			field: func(c *Config) any { return &c.AllowPrivate },
		},
		{
			Name: "slices", Default: "16", Roles: delivering,
			Help:  "how many slices of 64 homes are walked at once",
			field: func(c *Config) any { return &c.Worker.Slices }, check: func(c *Config) string { return upTo(c.Worker.Slices, 1024) },
		},
		{
			Name: "concurrency", Default: "256", Roles: delivering,
			Help:  "the most webhook requests in flight for slices; due retries may have half as many beside them",
			field: func(c *Config) any { return &c.Worker.Concurrency }, check: func(c *Config) string { return upTo(c.Worker.Concurrency, 65536) },
		},
		{
			Name: "endpoint-concurrency", Default: "64", Roles: delivering,
			Help:  "the most webhook requests in flight to one endpoint",
			field: func(c *Config) any { return &c.Worker.EndpointConcurrency }, check: func(c *Config) string { return upTo(c.Worker.EndpointConcurrency, 65536) },
		},
		{
			Name: "drain-timeout", Default: "30s", Roles: delivering,
			Help:  "how long a stopping process may take to finish the deliveries it holds; it hands back the rest",
			field: func(c *Config) any { return &c.Worker.DrainTimeout }, check: drainTimeout,
		},
		{
			Name: "curves", Default: "1024", Roles: everywhere,
			Help:  "how many price curves are kept in memory, one for all homes that share a plan and a window",
			field: func(c *Config) any { return &c.Curves }, check: func(c *Config) string { return upTo(c.Curves, 1<<20) },
		},
	}
}

func storeSettings() []Setting {
	return []Setting{
		{
			Name: "receipts-age", Default: "168h", Roles: everywhere,
			Help:  "how long the outcome of each delivery is kept",
			field: func(c *Config) any { return &c.ReceiptsAge }, check: func(c *Config) string { return age(c.ReceiptsAge) },
		},
		{
			Name: "triggers-age", Default: "720h", Roles: everywhere,
			Help:  "how long triggers are kept",
			field: func(c *Config) any { return &c.TriggersAge }, check: triggersAge,
		},
		{
			Name: "max-store", Default: "0", Roles: []Role{Serve},
			Help:  "the most disk that the embedded NATS may use, such as 20GiB; 0 for three quarters of what is free",
			field: func(c *Config) any { return &c.MaxStore }, check: maxStore,
		},
	}
}
