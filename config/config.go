package config

import (
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
//     bound; zero: 0 has a meaning of its own outside the bounds; a fraction needs bounds,
//     which refuse NaN and infinity
//   - words: the only values of a text, comma-separated
//   - file: the value is the path of a file to read
//   - secret: the whole value is masked, or only the user data and the query of URLs
//
// The file checks.go has the rules that tags cannot express.
type Config struct {
	Role Role
	// Warnings are likely mistakes that do not keep the process from starting.
	Warnings []string

	Data        string     `setting:"data" default:"./gridhook-data" help:"folder of this process's files, created if it does not exist"`
	HTTP        string     `setting:"http" default:"127.0.0.1:8080" roles:"serve,api" help:"address of the API for partners; port 0 selects a free port"`
	Admin       string     `setting:"admin" default:"127.0.0.1:8081" help:"address of the admin API, the metrics and the health checks; keep it private"`
	OperatorKey string     `setting:"operator-key" secret:"masked" help:"key of the admin API and of profiles, at least 16 characters; by default the key in the file operator.key of the data folder, which the first start creates"`
	MemoryLimit Size       `setting:"memory-limit" default:"0" zero:"true" min:"128MiB" help:"memory limit of the garbage collector, such as 2GiB; 0 for 90 % of the memory of the control group or the machine"`
	Profiles    bool       `setting:"profiles" default:"false" help:"profiles of the running process under /debug/pprof/ of the admin address, for the operator's key"`
	LogLevel    slog.Level `setting:"log-level" default:"info" help:"lowest level to log: debug, info, warn or error"`
	LogFormat   string     `setting:"log-format" default:"json" words:"json,text" help:"format of log lines: json, or text for people"`

	// TLS holds the files of the public listener. AdminTLS holds the files of the admin
	// listener.
	TLS      KeyPair `setting:"tls" roles:"serve,api" whose:"the API for partners, PEM, reloaded when it changes" without:"; by default no TLS"`
	AdminTLS KeyPair `setting:"admin-tls" whose:"the admin address, PEM, reloaded when it changes" without:"; by default no TLS"`

	// MasterKey holds the keys that seal the data key. MasterKeyFile names a file with
	// them instead.
	MasterKey     string `setting:"master-key" secret:"masked" help:"key that encrypts the secrets of endpoints, the base64 of 32 random bytes; during a rotation several keys, comma-separated, and the first one encrypts; by default none"`
	MasterKeyFile string `setting:"master-key-file" file:"true" help:"file with the master key, or with several keys, one per line"`

	NATS NATS `setting:"nats" roles:"api,worker"`

	AllowPrivate bool `setting:"allow-private-destinations" default:"false" help:"permission for webhooks to http, any port, and loopback or private addresses, for tests and demos"`
	// Allowed lists destinations beside the public internet. DestinationCA is a file of
	// certificate authorities to trust beside the system's. EgressProxy carries every
	// connection to destinations.
	Allowed       Destinations `setting:"allowed-destinations" help:"destinations of webhooks in addition to the public internet, over https: ranges such as 10.1.0.0/16 and hosts such as receiver.internal:9443, comma-separated; ports 443 and 8443 unless a host names another"`
	DestinationCA string       `setting:"destination-ca" file:"true" help:"file of certificate authorities to trust for destinations in addition to the system's, PEM"`
	EgressProxy   ProxyURL     `setting:"egress-proxy" secret:"password" help:"URL of an HTTP proxy for every connection to destinations, by CONNECT, such as http://user:password@proxy:3128; Gridhook resolves names and checks addresses itself"`
	SMTP          SMTP         `setting:"smtp"`
	Worker        Delivery     `roles:"serve,worker"`
	Curves        int          `setting:"curves" default:"1024" min:"1" max:"1048576" help:"maximum number of price curves in memory, 20 KB each; homes with the same plan and window share a curve, and a curve of several days counts once per day"`

	Limits Limits `roles:"serve,api"`

	OpenADR OpenADR `setting:"openadr"`
	MQTT    string  `setting:"mqtt" roles:"serve" help:"address of the MQTT 3.1.1 broker for OpenADR clients, such as 0.0.0.0:8883, with the certificate of tls-cert; needs openadr; by default none"`

	// TrustedProxies are the reverse proxies whose ProxyHeader names a request's client.
	TrustedProxies Prefixes `setting:"trusted-proxies" roles:"serve,api" help:"addresses and ranges of reverse proxies in front of the API, such as 10.0.0.0/8, comma-separated; their proxy-header names the client for limits and the log"`
	ProxyHeader    string   `setting:"proxy-header" default:"X-Forwarded-For" words:"X-Forwarded-For,Forwarded" roles:"serve,api" help:"header in which trusted proxies name the client: X-Forwarded-For or Forwarded; the other header is ignored"`

	// Each retention is longer than the retries of a delivery, which end after a day: its
	// outcomes must outlive them. By default, a process leaves the streams as they are.
	ReceiptsAge time.Duration `setting:"receipts-age" default:"0s" zero:"true" min:"25h" max:"87600h" help:"retention of triggers and outcomes of deliveries in the API; with 0s, an existing stream stays as it is and a new stream gets 168h"`
	TriggersAge time.Duration `setting:"triggers-age" default:"0s" zero:"true" min:"25h" max:"87600h" help:"retention of triggers in NATS, for comparison with later changes of prices and OpenADR objects; with 0s, an existing stream stays as it is and a new stream gets 720h"`
	AuditAge    time.Duration `setting:"audit-age" default:"0s" zero:"true" min:"25h" max:"87600h" help:"retention of the audit log; with 0s, an existing stream stays as it is and a new stream gets 8760h"`
	MaxStore    Size          `setting:"max-store" default:"0" zero:"true" min:"64MiB" roles:"serve" help:"maximum disk space of the embedded NATS, such as 20GiB; 0 for the space that it already uses plus half of the free space at the start"`

	Traces Traces `setting:"trace"`
}

// Traces configures the recording of OpenTelemetry traces.
type Traces struct {
	Endpoint string `setting:"endpoint" secret:"password" help:"URL of the OpenTelemetry collector of traces, by OTLP over HTTP, such as http://127.0.0.1:4318; by default no traces"`
	// Headers is parsed by HeaderPairs.
	Headers  string  `setting:"headers" secret:"masked" help:"request headers for the collector, as name=value, comma-separated"`
	Sample   float64 `setting:"sample" default:"1" min:"0" max:"1" help:"share of traces to record, from 0 to 1; a caller's traceparent has precedence"`
	Requests int     `setting:"requests" default:"1" min:"0" max:"64" roles:"serve,worker" help:"maximum number of traced webhook requests per endpoint and slice of 64 or 256 homes; the traceparent of other requests is not sampled"`
}

// KeyPair names the files of a certificate and of its private key.
type KeyPair struct {
	Certificate string `setting:"cert" file:"true" pair:"key" help:"certificate file of {whose}; needs {prefix}-key{without}"`
	Key         string `setting:"key" file:"true" pair:"cert" help:"private key file of the certificate, PEM; needs {prefix}-cert"`
}

// NATS configures the connection to an external NATS. Every field but URL may be empty.
type NATS struct {
	URL         string `setting:"" required:"api,worker" secret:"password" help:"URLs of the NATS servers, comma-separated, such as nats://10.0.0.5:4222"`
	Credentials string `setting:"creds" file:"true" help:"credentials file of the NATS user"`
	CA          string `setting:"ca" file:"true" help:"file of the certificate authorities to trust for NATS, PEM; by default the system's"`
	Prefix      string `setting:"prefix" default:"gridhook" help:"first part of the names of all streams and subjects, lower case; installations that share a NATS account need different prefixes"`
	Domain      string `setting:"domain" help:"JetStream domain; by default the domain of the server"`
	Tags        string `setting:"placement-tags" help:"tags of the NATS servers that store the streams, comma-separated; by default any server of the cluster"`
	Replicas    int    `setting:"replicas" default:"0" zero:"true" min:"1" max:"5" help:"number of replicas of each stream: 1, or 3 on a cluster; with 0, existing streams stay as they are and new streams get 1"`
	KeyPair     `whose:"this process, PEM"`
}

// SMTP configures the server for email to notification channels.
type SMTP struct {
	URL  SMTPURL `setting:"url" secret:"masked" help:"URL of the SMTP server for email to notification channels, such as smtp://user:password@mail.example.com:587 with STARTTLS, or smtps:// with TLS from the start; ?tls=none for a relay without TLS; by default no email"`
	From string  `setting:"from" help:"sender address of email to notification channels, such as gridhook@example.com; needed with smtp-url"`
}

// Delivery bounds the concurrent work of a worker.
type Delivery struct {
	Slices              int           `setting:"slices" default:"16" min:"1" max:"1024" help:"maximum number of slices of 64 or 256 homes in progress, half of them of one organization; a slice counts once for each 16 endpoints"`
	Concurrency         int           `setting:"concurrency" default:"1024" min:"1" max:"65536" help:"maximum number of webhook requests in flight, including retries and hanging requests; three quarters of it for one organization; half of it for all endpoints that are new, failed at their last request or have not responded for 100ms, and a quarter for such endpoints of one organization"`
	EndpointConcurrency int           `setting:"endpoint-concurrency" default:"64" min:"1" max:"65536" help:"maximum number of webhook requests in flight to one endpoint; an eighth for an endpoint that is new, failed at its last request or has not responded for 100ms"`
	DrainTimeout        time.Duration `setting:"drain-timeout" default:"30s" min:"1s" max:"1h" help:"time for a stopping process to finish its current deliveries; it returns the rest to the queue"`
}

// OpenADR configures the OpenADR interface.
type OpenADR struct {
	Enabled         bool          `setting:"" default:"false" help:"OpenADR 3.1 interface under /openadr3/3.1.1 of the API's address; set it in every process of a fleet"`
	VerifyCallbacks bool          `setting:"verify-callbacks" default:"true" roles:"serve,api" help:"challenge to the callback of a new OpenADR subscription, as the OpenADR definition requires"`
	ReportRetention time.Duration `setting:"report-retention" default:"720h" min:"25h" max:"87600h" help:"retention of the reports that OpenADR clients send"`
	MaxObjects      int           `setting:"max-objects" default:"200000" min:"1" max:"10000000" roles:"serve,api" help:"maximum number of OpenADR objects of each type per organization; another one gets response 409"`
}

// Limits bounds the resources that a client of the API may use.
type Limits struct {
	RateLimit     float64 `setting:"rate-limit" default:"100" above:"0" max:"1000000" help:"maximum rate of requests per API key and process, per second; all keys of an organization together have ten times that"`
	RateBurst     int     `setting:"rate-burst" default:"200" min:"1" max:"1000000" help:"maximum burst of requests per API key"`
	FeedbackRate  float64 `setting:"feedback-rate" default:"0.2" above:"0" max:"1000000" help:"maximum rate of feedback submissions per client address, per second"`
	FeedbackBurst int     `setting:"feedback-burst" default:"10" min:"1" max:"1000000" help:"maximum burst of feedback submissions per client address"`
	MaxBody       Size    `setting:"max-body" default:"1MiB" min:"1KiB" max:"16MiB" help:"maximum size of a JSON request body and of a line of an import"`
	MaxImport     Size    `setting:"max-import" default:"16MiB" min:"4MiB" max:"256MiB" help:"maximum size of an import request; gridhook import sends at most 16MiB"`
	MaxUnread     Size    `setting:"max-unread" default:"64MiB" min:"1MiB" max:"1TiB" help:"memory limit of request bodies, and of responses that clients have not read yet, over 32 KiB each; a quarter of it per organization, beyond which requests get response 429"`
	MaxDepth      int     `setting:"max-depth" default:"32" min:"1" max:"1000" help:"maximum nesting depth of JSON in requests"`
	MaxHomes      int     `setting:"max-homes" default:"1000000" min:"1" max:"100000000" help:"maximum number of homes per organization; another one gets response 409"`
	MaxEndpoints  int     `setting:"max-endpoints" default:"50" min:"1" max:"10000" help:"maximum number of webhook endpoints per organization, including disabled endpoints; another one gets response 409"`
	MaxSchedules  int     `setting:"max-schedules" default:"20" min:"1" max:"10000" help:"maximum number of schedules per organization, including disabled schedules; another one gets response 409"`
	MaxKeys       int     `setting:"max-keys" default:"100" min:"1" max:"1000000" help:"maximum number of API keys per organization, not counting revoked and expired keys; another one gets response 409, except by a rotation"`
	MaxChannels   int     `setting:"max-channels" default:"20" min:"1" max:"1000" help:"maximum number of notification channels per organization, and of the operator; another one gets response 409"`
	MaxSources    int     `setting:"max-sources" default:"200" min:"1" max:"10000" help:"maximum number of sources of prices per organization, and of the operator; another one gets response 409"`
	MaxState      Size    `setting:"max-state" default:"1GiB" min:"0" max:"1TiB" help:"maximum size of the stored records per organization, 0 for no limit; serve lowers it to a quarter of the store; beyond it a new record, or an update that makes a record larger, gets response 409"`
	FailureShare  float64 `setting:"failure-share" default:"0.1" min:"0" max:"1" help:"share of a trigger's deliveries that may fail without a notice to notification channels, from 0 to 1"`
	MaxWaiting    int     `setting:"max-waiting" default:"100" min:"0" max:"1000000" help:"maximum number of incomplete triggers per organization, 0 for no limit; another one gets response 429"`
	MaxHistory    Size    `setting:"max-history" default:"16GiB" min:"0" max:"1024TiB" help:"maximum size of the triggers, receipts, notices and waiting retries per organization within receipts-age, 0 for no limit; serve lowers it to an eighth of the store; a trigger beyond it gets response 429"`
	Estimates     int     `setting:"estimates" default:"0" min:"0" max:"1024" help:"maximum number of concurrent savings estimates; 0 for half of the processors"`
	CORSOrigins   string  `setting:"cors-origins" help:"origins of web pages that may call the API from browsers, such as https://app.example.com, comma-separated; by default none"`
	FrameOrigins  string  `setting:"console-frame-origins" help:"origins of web pages that may show the partners' console in a frame, such as https://app.example.com, comma-separated; by default none"`

	MaxIdempotencyKeys int `setting:"max-idempotency-keys" default:"10000" min:"1" max:"1000000" help:"maximum number of new idempotency keys a day per organization and process, not counting triggers; serve lowers it to a 128th of the store, 4 KiB a key; a client address without an API key has a hundredth; another one gets response 429"`

	MaxConnections int           `setting:"max-connections" default:"10000" min:"1" max:"1000000" help:"maximum number of connections to the API for partners; a quarter of it per client address, an IPv6 /48 counting as one, and all of it for this machine and per address in trusted-proxies; another one is closed at once; the MQTT listener has as many of its own, a quarter per organization"`
	MaxHeaders     Size          `setting:"max-headers" default:"16KiB" min:"1KiB" max:"1MiB" help:"maximum size of a request's headers"`
	HeaderTimeout  time.Duration `setting:"header-timeout" default:"5s" min:"100ms" max:"1h" help:"timeout of reading a request's headers"`
	ReadTimeout    time.Duration `setting:"read-timeout" default:"15s" min:"100ms" max:"1h" help:"timeout of reading a whole request"`
	RequestTimeout time.Duration `setting:"request-timeout" default:"25s" min:"100ms" max:"1h" help:"timeout of an operation"`
	WriteTimeout   time.Duration `setting:"write-timeout" default:"30s" min:"100ms" max:"1h" help:"timeout from a request's headers to the end of its response; longer than request-timeout, so that every request gets a response"`
	IdleTimeout    time.Duration `setting:"idle-timeout" default:"60s" min:"100ms" max:"1h" help:"timeout of an idle connection"`
}
