package config

import (
	"encoding"
	"fmt"
	"log/slog"
	"time"
)

// Role is which parts of Gridhook a process runs. It decides which settings the
// process takes.
type Role string

// The roles.
const (
	// Serve runs everything in one process, with nats-server embedded.
	Serve Role = "serve"
	// API answers partners and operators, on an external NATS.
	API Role = "api"
	// Worker delivers webhooks, on an external NATS.
	Worker Role = "worker"
)

// Roles are all roles.
func Roles() []Role { return []Role{Serve, API, Worker} }

// Config is what one process was told. A setting that its role does not take has
// its default.
type Config struct {
	Role Role
	// Data is the folder of the process's files.
	Data string
	// HTTP and Admin are the addresses to listen on.
	HTTP, Admin string
	NATS        NATS
	// AllowPrivate lets webhooks go to http, any port, and loopback or private
	// addresses.
	AllowPrivate bool
	// OperatorKey opens the admin API; empty means the one in Data.
	OperatorKey string
	// MasterKey has the keys that seal the data key, or else MasterKeyFile; both
	// may be empty.
	MasterKey, MasterKeyFile string
	// TLS is that of the public listener, AdminTLS that of the admin one; empty
	// for none.
	TLS, AdminTLS KeyPair
	LogLevel      slog.Level
	LogFormat     LogFormat
	Worker        Delivery
	// Curves is how many price curves are kept in memory.
	Curves int
	Limits Limits
	// MemoryLimit is what the process may use; 0 for a share of what there is.
	MemoryLimit Size
	// Profiles are served on the admin listener, to the operator's key.
	Profiles bool
	// CORSOrigins are the origins, with commas between them, whose pages may
	// call the API from browsers.
	CORSOrigins string
	// ReceiptsAge and TriggersAge are how long the record is kept.
	ReceiptsAge, TriggersAge time.Duration
	// MaxStore limits the embedded server's files; 0 is its own default.
	MaxStore Size
	Traces   Traces
}

// Traces are what is recorded for OpenTelemetry.
type Traces struct {
	// Endpoint is the collector's URL, empty for none.
	Endpoint string
	// Headers are name=value with commas between them: see HeaderPairs.
	Headers string
	// Sample is the share of traces that is recorded, from 0 to 1.
	Sample float64
	// Requests of each slice or retry, and to one endpoint, have spans.
	Requests int
}

// KeyPair are the files of a certificate and of its private key.
type KeyPair struct{ Certificate, Key string }

// NATS is how an external NATS is reached. All but URL may be empty.
type NATS struct {
	URL string
	// Credentials and CA are files, and KeyPair is this process's certificate.
	Credentials, CA string
	KeyPair
	// Replicas is how many servers keep each stream.
	Replicas int
}

// Delivery bounds what a worker does at once.
type Delivery struct {
	// Slices are walked at once.
	Slices int
	// Concurrency is the most requests in flight, EndpointConcurrency the most
	// of them at one endpoint.
	Concurrency, EndpointConcurrency int
	// DrainTimeout is how long a stopping worker may take to finish.
	DrainTimeout time.Duration
}

// Limits bound what one who asks may cost.
type Limits struct {
	// MaxBody is the largest JSON body, MaxImport the largest import, and
	// MaxDepth how deep JSON may be nested.
	MaxBody, MaxImport Size
	MaxDepth           int
	// RateLimit is the requests a second and key, RateBurst how many at once.
	RateLimit float64
	RateBurst int
	// FeedbackRate and FeedbackBurst are the same of feedback, by client
	// address.
	FeedbackRate  float64
	FeedbackBurst int
	// Estimates are worked on at once; 0 for half of the processors.
	Estimates int
	// MaxHeaders is the most bytes of headers.
	MaxHeaders Size
	// HeaderTimeout and ReadTimeout bound how long a request may take to come,
	// RequestTimeout the operation, WriteTimeout all of it with the answer, and
	// IdleTimeout the wait for the next.
	HeaderTimeout, ReadTimeout, RequestTimeout, WriteTimeout, IdleTimeout time.Duration
}

// LogFormat is how log lines are written.
type LogFormat string

// The log formats.
const (
	LogJSON LogFormat = "json"
	LogText LogFormat = "text"
)

var _ encoding.TextUnmarshaler = (*LogFormat)(nil)

// UnmarshalText reads a log format.
func (f *LogFormat) UnmarshalText(text []byte) error {
	switch got := LogFormat(text); got {
	case LogJSON, LogText:
		*f = got
		return nil
	}
	return fmt.Errorf("must be %s or %s", LogJSON, LogText)
}

// MarshalText writes it.
func (f LogFormat) MarshalText() ([]byte, error) { return []byte(f), nil }
