package config

import (
	"encoding"
	"fmt"
	"log/slog"
	"time"
)

// Role names the parts of Gridhook that a process runs. It decides which settings the
// process takes.
type Role string

// The roles.
const (
	// Serve runs everything in one process, with nats-server embedded.
	Serve Role = "serve"
	// API serves partners and operators, on an external NATS.
	API Role = "api"
	// Worker delivers webhooks, on an external NATS.
	Worker Role = "worker"
)

// Roles returns all roles.
func Roles() []Role { return []Role{Serve, API, Worker} }

// Config holds the settings of one process. A setting that its role does not take has its
// default.
//
// Each setting is a field with tags, in the order of the reference:
//
//   - setting: the flag and the key in the file; on a struct, the prefix of its settings
//   - help: the text of the reference and of the flag's help; the placeholder {whose}
//     stands for the struct's tag "whose"
//   - default: the default value, in the form that an operator would write
//   - roles: the roles that take the setting, by default all; required: the roles that
//     need a value
//   - min, max: the inclusive bounds, in the form of a value; above: an exclusive lower
//     bound; zero: 0 has a meaning of its own outside the bounds
//   - file: the value is the path of a file to read
//   - secret: the whole value is masked, or only the password of URLs
//
// The file checks.go has the rules that tags cannot express.
type Config struct {
	Role Role

	Data        string     `setting:"data" default:"./gridhook-data" help:"the folder of this process's files; made when it is not there"`
	HTTP        string     `setting:"http" default:"127.0.0.1:8080" roles:"serve,api" help:"the address of the API for partners; port 0 takes a free one"`
	Admin       string     `setting:"admin" default:"127.0.0.1:8081" help:"the address of the admin API, the metrics and the health checks; keep it private"`
	OperatorKey string     `setting:"operator-key" secret:"masked" help:"the key of the admin API and of profiles, at least 16 characters; by default the one in the file operator.key of the data folder, made at the first start"`
	MemoryLimit Size       `setting:"memory-limit" default:"0" zero:"true" min:"128MiB" help:"the memory that the process may use, such as 2GiB, kept by the garbage collector; 0 for nine tenths of the control group's or the machine's"`
	Profiles    bool       `setting:"profiles" default:"false" help:"serve profiles of the running process under /debug/pprof/ of the admin address, to the operator's key"`
	LogLevel    slog.Level `setting:"log-level" default:"info" help:"the least that is logged: debug, info, warn or error"`
	LogFormat   LogFormat  `setting:"log-format" default:"json" help:"json, or text for people"`

	// TLS holds the files of the public listener. AdminTLS holds the files of the admin
	// listener.
	TLS      KeyPair `setting:"tls" roles:"serve,api" whose:"the API for partners, PEM, read again when it changes" without:"; by default there is no TLS"`
	AdminTLS KeyPair `setting:"admin-tls" whose:"the admin address, PEM, read again when it changes" without:"; by default there is no TLS"`

	// MasterKey holds the keys that seal the data key. MasterKeyFile names a file with
	// them instead.
	MasterKey     string `setting:"master-key" secret:"masked" help:"the key that the secrets of endpoints are locked with, the base64 of 32 random bytes; several with commas between them while it is changed, the first of which locks; by default there is none"`
	MasterKeyFile string `setting:"master-key-file" file:"true" help:"a file with that key, or several in lines of their own"`

	NATS NATS `setting:"nats" roles:"api,worker"`

	AllowPrivate bool `setting:"allow-private-destinations" default:"false" help:"let webhooks go to http, any port, and loopback or private addresses: for tests and demos"`
	// Allowed lists destinations beside the public internet. DestinationCA is a file of
	// certificate authorities to trust beside the system's. EgressProxy carries every
	// connection to destinations.
	Allowed       Destinations `setting:"allowed-destinations" help:"where webhooks may go beside the public internet, over https: ranges such as 10.1.0.0/16 and hosts such as receiver.internal:9443, with commas between them; ports 443 and 8443 unless a host names another"`
	DestinationCA string       `setting:"destination-ca" file:"true" help:"the file of certificate authorities to trust beside the system's where webhooks go, PEM"`
	EgressProxy   ProxyURL     `setting:"egress-proxy" secret:"password" help:"the URL of an HTTP proxy that takes every connection to destinations by CONNECT, such as http://user:password@proxy:3128; Gridhook resolves names and checks addresses itself"`
	Worker        Delivery     `roles:"serve,worker"`
	Curves        int          `setting:"curves" default:"1024" min:"1" max:"1048576" help:"how many price curves of a day (20 KB each) are kept in memory, one for all homes that share a plan and a window; a longer curve counts as its days"`

	Limits Limits `roles:"serve,api"`

	OpenADR OpenADR `setting:"openadr"`

	// TrustedProxies are the reverse proxies whose ProxyHeader names a request's client.
	TrustedProxies Prefixes `setting:"trusted-proxies" roles:"serve,api" help:"the addresses and ranges of reverse proxies in front of the API, such as 10.0.0.0/8, with commas between them; their proxy-header names the client for limits and the log"`
	ProxyHeader    string   `setting:"proxy-header" default:"X-Forwarded-For" roles:"serve,api" help:"the header by which trusted proxies name the client: X-Forwarded-For or Forwarded; the other one is not read"`

	ReceiptsAge time.Duration `setting:"receipts-age" default:"168h" help:"how long the outcome of each delivery is kept"`
	TriggersAge time.Duration `setting:"triggers-age" default:"720h" help:"how long triggers are kept"`
	AuditAge    time.Duration `setting:"audit-age" default:"8760h" help:"retention of the audit log"`
	MaxStore    Size          `setting:"max-store" default:"0" zero:"true" min:"64MiB" roles:"serve" help:"the most disk that the embedded NATS may use, such as 20GiB; 0 for three quarters of what is free"`

	Traces Traces `setting:"trace"`
}

// Traces configures the recording of OpenTelemetry traces.
type Traces struct {
	Endpoint string `setting:"endpoint" secret:"password" help:"the OpenTelemetry collector that traces are sent to by OTLP over HTTP, such as http://127.0.0.1:4318; by default none are made"`
	// Headers is parsed by HeaderPairs.
	Headers  string  `setting:"headers" secret:"masked" help:"the headers that the collector wants, as name=value with commas between them"`
	Sample   float64 `setting:"sample" default:"1" min:"0" max:"1" help:"the share of traces that is recorded, from 0 to 1; a caller that sends a traceparent decides for its own"`
	Requests int     `setting:"requests" default:"1" min:"0" max:"64" roles:"serve,worker" help:"how many webhook requests of each 64 homes, and to one endpoint, have a span of their own; the others say in their traceparent that they have none"`
}

// KeyPair names the files of a certificate and of its private key.
type KeyPair struct {
	Certificate string `setting:"cert" file:"true" pair:"key" help:"the file of the certificate of {whose}; needs {prefix}-key{without}"`
	Key         string `setting:"key" file:"true" pair:"cert" help:"the file of that certificate's private key, PEM; needs {prefix}-cert"`
}

// NATS configures the connection to an external NATS. Every field but URL may be empty.
type NATS struct {
	URL         string `setting:"" required:"api,worker" secret:"password" help:"the URL of the NATS servers, several with commas between them, such as nats://10.0.0.5:4222"`
	Credentials string `setting:"creds" file:"true" help:"the file of the NATS user's credentials"`
	CA          string `setting:"ca" file:"true" help:"the file of the certificate authorities to trust, PEM; by default the system's"`
	Replicas    int    `setting:"replicas" default:"1" min:"1" max:"5" help:"how many NATS servers keep each stream: 1, or 3 on a cluster"`
	KeyPair     `whose:"this process, PEM"`
}

// Delivery bounds the concurrent work of a worker.
type Delivery struct {
	Slices              int           `setting:"slices" default:"16" min:"1" max:"1024" help:"how many slices of 64 homes are walked at once"`
	Concurrency         int           `setting:"concurrency" default:"1024" min:"1" max:"65536" help:"maximum number of webhook requests in flight, retries and requests that hang included; endpoints that have not answered well yet share half of it"`
	EndpointConcurrency int           `setting:"endpoint-concurrency" default:"64" min:"1" max:"65536" help:"maximum number of webhook requests in flight to one endpoint; one that has not answered well yet has an eighth"`
	DrainTimeout        time.Duration `setting:"drain-timeout" default:"30s" min:"1s" max:"1h" help:"how long a stopping process may take to finish the deliveries it holds; it hands back the rest"`
}

// OpenADR configures the OpenADR interface.
type OpenADR struct {
	Enabled         bool          `setting:"" default:"false" help:"serve OpenADR 3.1 under /openadr3/3.1.1 of the API's address; set it in every process of a fleet"`
	VerifyCallbacks bool          `setting:"verify-callbacks" default:"true" roles:"serve,api" help:"ask the callback of a new OpenADR subscription to echo a challenge, as the definition of OpenADR requires"`
	ReportRetention time.Duration `setting:"report-retention" default:"720h" help:"retention of the reports that OpenADR clients send"`
	MaxObjects      int           `setting:"max-objects" default:"200000" min:"1" max:"10000000" roles:"serve,api" help:"maximum number of OpenADR objects of each type of one organization; creating one more is answered with 409"`
}

// Limits bounds the resources that a client of the API may use.
type Limits struct {
	RateLimit     float64 `setting:"rate-limit" default:"100" above:"0" max:"1000000" help:"the requests a second that one API key may make"`
	RateBurst     int     `setting:"rate-burst" default:"200" min:"1" max:"1000000" help:"how many requests one API key may make at once"`
	FeedbackRate  float64 `setting:"feedback-rate" default:"0.2" above:"0" max:"1000000" help:"the submissions of feedback a second that one client address may make"`
	FeedbackBurst int     `setting:"feedback-burst" default:"10" min:"1" max:"1000000" help:"how many submissions of feedback one client address may make at once"`
	MaxBody       Size    `setting:"max-body" default:"1MiB" min:"1KiB" max:"16MiB" help:"the largest JSON body that the API takes, and the longest line of an import"`
	MaxImport     Size    `setting:"max-import" default:"16MiB" min:"1KiB" max:"256MiB" help:"the largest import that the API takes at once; gridhook import sends at most 16MiB"`
	MaxUnread     Size    `setting:"max-unread" default:"64MiB" min:"1MiB" max:"1TiB" help:"the memory for answers that clients have not read yet; an organization has a quarter, and more is answered with 429"`
	MaxDepth      int     `setting:"max-depth" default:"32" min:"1" max:"1000" help:"how deep the JSON that the API takes may be nested"`
	MaxEndpoints  int     `setting:"max-endpoints" default:"50" min:"1" max:"10000" help:"maximum number of webhook endpoints of one organization, disabled ones included; creating one more is answered with 409"`
	MaxWaiting    int     `setting:"max-waiting" default:"2000" min:"0" max:"1000000" help:"maximum number of triggers of one organization that are not completed, 0 for no limit; one more is answered with 429"`
	MaxHistory    Size    `setting:"max-history" default:"16GiB" min:"0" max:"1024TiB" help:"maximum size of the triggers and receipts of one organization within receipts-age, 0 for no limit; a trigger beyond it is answered with 429"`
	Estimates     int     `setting:"estimates" default:"0" min:"0" max:"1024" help:"how many estimates of savings are worked on at once; 0 for half of the processors"`
	CORSOrigins   string  `setting:"cors-origins" help:"the origins of web pages whose scripts may call the API from browsers, such as https://app.example.com, with commas between them; by default none"`

	MaxHeaders     Size          `setting:"max-headers" default:"16KiB" min:"1KiB" max:"1MiB" help:"the most bytes of headers that a request may have"`
	HeaderTimeout  time.Duration `setting:"header-timeout" default:"5s" min:"100ms" max:"1h" help:"how long a request's headers may take to come"`
	ReadTimeout    time.Duration `setting:"read-timeout" default:"15s" min:"100ms" max:"1h" help:"how long a whole request may take to come"`
	RequestTimeout time.Duration `setting:"request-timeout" default:"25s" min:"100ms" max:"1h" help:"how long an operation may take"`
	WriteTimeout   time.Duration `setting:"write-timeout" default:"30s" min:"100ms" max:"1h" help:"how long a request may take from its headers to the end of its answer; longer than request-timeout, so that there is always one"`
	IdleTimeout    time.Duration `setting:"idle-timeout" default:"60s" min:"100ms" max:"1h" help:"how long a connection may wait for its next request"`
}

// LogFormat is the format of log lines.
type LogFormat string

// The log formats.
const (
	LogJSON LogFormat = "json"
	LogText LogFormat = "text"
)

var _ encoding.TextUnmarshaler = (*LogFormat)(nil)

// UnmarshalText parses a log format.
func (f *LogFormat) UnmarshalText(text []byte) error {
	switch got := LogFormat(text); got {
	case LogJSON, LogText:
		*f = got
		return nil
	}
	return fmt.Errorf("must be %s or %s", LogJSON, LogText)
}

// MarshalText returns the log format's name.
func (f LogFormat) MarshalText() ([]byte, error) { return []byte(f), nil }
