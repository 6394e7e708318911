package doctor

import (
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gridhook/gridhook/cmd/internal/app"
	"github.com/gridhook/gridhook/cmd/internal/telemetry"
	"github.com/gridhook/gridhook/config"
)

// settings checks for settings that are valid alone but do not fit together.
func (r *Report) settings(l *config.Loaded) {
	c, before := &l.Config, len(r.Findings)
	if c.AllowPrivate {
		r.warn("destinations", "turn allow-private-destinations off in production", "webhooks may go to http and private addresses: a partner can reach into this network")
	}
	if c.Worker.EndpointConcurrency > c.Worker.Concurrency {
		r.warn("settings", "lower endpoint-concurrency, or raise concurrency",
			"endpoint-concurrency %d is above concurrency %d: one slow endpoint can take every request", c.Worker.EndpointConcurrency, c.Worker.Concurrency)
	}
	if c.MemoryLimit > 0 && os.Getenv("GOMEMLIMIT") != "" {
		r.warn("settings", "unset memory-limit or GOMEMLIMIT", "memory-limit and GOMEMLIMIT are both set: GOMEMLIMIT has precedence")
	}
	for _, secret := range l.FlagSecrets() {
		r.warn("settings", "set it in the environment or the file", "%s is on the command line, where other users of the machine can read it", secret)
	}
	if c.Profiles {
		r.warn("settings", "turn profiles off after the measurement", "profiles show the memory of the process to holders of an operator key, and a profile takes processor time")
	}
	if slices.ContainsFunc(c.TrustedProxies, func(p netip.Prefix) bool { return p.Bits() == 0 }) {
		r.warn("settings", "name only the addresses of your proxies", "trusted-proxies has every address: each client can name another client's address, for limits and the log")
	}
	if err := telemetry.Check(c.Traces.Endpoint); err != nil {
		r.problem("settings", "correct the variable, or unset it", "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	if len(r.Findings) == before {
		r.ok("settings", "%s: valid and consistent", c.Role)
	}
}

// listeners checks who can reach the process.
func (r *Report) listeners(c *config.Config) {
	switch beyond := !loopback(c.Admin); {
	case beyond && c.AdminTLS == (config.KeyPair{}):
		r.warn("admin listener", "keep it on a private network, or give it a certificate with admin-tls-cert", "%s is reachable from beyond this machine without encryption", c.Admin)
	case beyond:
		r.warn("admin listener", "keep it on a private network", "%s is reachable from beyond this machine: metrics and health checks need no key", c.Admin)
	default:
		r.ok("admin listener", "%s is reachable only from this machine", c.Admin)
	}
	switch {
	case c.Role == config.Worker:
	case c.TLS != (config.KeyPair{}):
		r.ok("public listener", "%s uses TLS", c.HTTP)
	case loopback(c.HTTP):
		r.ok("public listener", "%s is reachable only from this machine: put a proxy with TLS in front", c.HTTP)
	default:
		r.warn("public listener", "give it a certificate with tls-cert, or put a proxy with TLS in front", "%s receives API keys without encryption", c.HTTP)
	}
}

func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// dataFolder checks the data folder and its free space. Before the first start it checks the
// folder in which the start creates the data folder.
func (r *Report) dataFolder(c *config.Config, m machine) {
	const check = "data folder"
	folder, info, err := existing(c.Data)
	if err == nil && !info.IsDir() {
		err = syscall.ENOTDIR
	}
	if err != nil {
		r.problem(check, "name another folder with --data", "%s is not a usable folder: %v", folder, err)
		return
	}
	before, exists := len(r.Findings), folder == c.Data
	if mode := m.mode(info); exists && mode&0o077 != 0 {
		status := Warning
		if mode&0o022 != 0 {
			status = Problem
		}
		r.add(check, status, "chmod 0700 "+folder, "%s is open to other users of the machine (mode %#o)", folder, mode)
	}
	switch err := m.writable(folder); {
	case errors.Is(err, syscall.EROFS):
		r.problem(check, "mount the file system for writing, or name another folder with --data", "%s is on a file system that is mounted read-only", folder)
	case err != nil && !exists: // the service manager may create it
		r.warn(check, "create it for the user of the service", "%s does not exist, and this user cannot create it in %s: %v", c.Data, folder, err)
	case err != nil:
		r.problem(check, "run doctor as the user of the service, or chown the folder to this user", "%s cannot be written by this user: %v", folder, err)
	}
	if kind, bad := m.inMemory(folder); bad {
		r.problem(check, "name a folder on a disk with --data", "%s is on %s: accepted data does not survive a restart of the machine", folder, kind)
	}
	switch {
	case len(r.Findings) > before:
	case exists:
		r.ok(check, "%s is %son a disk", folder, map[bool]string{true: "private and "}[m.modes])
	default:
		r.ok(check, "%s does not exist: the first start creates it", c.Data)
	}
	r.disk(c, folder, m)
}

// existing returns a folder, or if it does not exist the first folder above it that does.
func existing(folder string) (string, fs.FileInfo, error) {
	info, err := os.Stat(folder)
	if above := filepath.Dir(folder); errors.Is(err, fs.ErrNotExist) && above != folder {
		return existing(above)
	}
	return folder, info, err
}

// history compares the limit of one organization's history with the size of the store in
// bytes, 0 if unknown.
func (r *Report) history(c *config.Config, store uint64) {
	const check = "max-history"
	switch history, share := c.Limits.MaxHistory, config.Size(store/app.HistoryShare); { //nolint:gosec // smaller than a disk
	case c.Role == config.Worker:
	case history == 0:
		r.warn(check, "set max-history", "no limit: the triggers of one organization can fill the store, and then nobody's are accepted")
	case store == 0:
		r.ok(check, "%s for each organization; the size of the store is not known", history)
	case history <= share:
		r.ok(check, "an organization's triggers are refused from %s on; the store has %s", history, config.Size(store).Rounded()) //nolint:gosec // smaller than a disk
	case c.Role == config.Serve:
		r.ok(check, "lowered to %s, an eighth of the store", share.Rounded())
	default:
		full := counted(int((store+uint64(history)-1)/uint64(history)), "organization fills", "organizations fill")                                                                //nolint:gosec // smaller than a disk
		r.warn(check, "lower max-history to "+setting(share)+", or enlarge the store", "%s for each organization: %s the store's %s", history, full, config.Size(store).Rounded()) //nolint:gosec // smaller than a disk
	}
}

// setting returns a size for people to paste into a setting, rounded down to whole MiB.
func setting(size config.Size) string {
	const unit = 1 << 20
	if size < unit {
		return size.String()
	}
	return (size / unit * unit).String()
}

// compaction checks whether a restart leaves bytes of deleted organizations behind.
func (r *Report) compaction(c *config.Config) {
	if due, err := app.CompactionDue(c.Data, time.Now()); due && err == nil {
		r.warn("deletions", "restart serve: see GridhookCompactionDue in the operator's guide",
			"the files of NATS have bytes of deleted organizations that are past their retention")
	}
}

// disk checks the data folder's file system. All values are in bytes: free is available to
// this process, size is the total, and space is what Gridhook can use with its own files.
func (r *Report) disk(c *config.Config, folder string, m machine) {
	const check, share, plenty = "disk", 10, 10 << 30 // 10 GiB are plenty on any disk
	free, size, err := m.space(folder)
	if err != nil {
		r.add(check, Unknown, "check the disk of the data folder", "%v", err)
		return
	}
	space := free + app.Used(c.Data)
	switch {
	case free < app.Reserve(size):
		r.problem(check, "free disk space: Gridhook refuses new requests", "%s of %s are free in %s", config.Size(free).Rounded(), config.Size(size).Rounded(), folder)
	case free < min(size/share, plenty):
		r.warn(check, "free disk space, or lower receipts-age", "%s of %s are free in %s, less than a tenth", config.Size(free).Rounded(), config.Size(size).Rounded(), folder)
	case uint64(c.MaxStore) > space:
		r.warn(check, "lower max-store: a full store refuses requests cleanly, a full disk does not", "max-store is %s, but the disk has space for %s", c.MaxStore, config.Size(space).Rounded())
	default:
		r.ok(check, "%s of %s are free in %s", config.Size(free).Rounded(), config.Size(size).Rounded(), folder)
	}
	if c.Role == config.Serve {
		r.history(c, app.StoreLimit(c, free))
	}
}

// operatorKey checks the key's location and permissions.
func (r *Report) operatorKey(l *config.Loaded, m machine) {
	const check = "operator key"
	c := &l.Config
	if c.Role == config.Worker {
		return
	}
	if c.OperatorKey != "" {
		r.ok(check, "given by %s", l.Source("operator-key"))
		return
	}
	path := filepath.Join(c.Data, app.OperatorKeyFile)
	info, err := stat(path)
	switch {
	case err == nil && m.mode(info)&0o077 != 0:
		r.problem(check, "chmod 0600 "+path+", and replace the key: delete the file and restart", "%s can be read by other users (mode %#o)", path, m.mode(info))
	case c.Role == config.API:
		r.warn(check, "give all api processes the same GRIDHOOK_OPERATOR_KEY", "this process has its own key in %s: behind a load balancer, other processes refuse it", path)
	case err == nil && !m.modes:
		r.ok(check, "in %s", path)
	case err == nil:
		r.ok(check, "%s is readable only by its owner", path)
	case errors.Is(err, fs.ErrNotExist):
		r.ok(check, "created at the first start in %s", path)
	default:
		r.add(check, Unknown, "run doctor as the user of the service", "%v", err)
	}
}

// stat describes a file that this user can read.
func stat(path string) (fs.FileInfo, error) {
	f, err := os.Open(path) //nolint:gosec // the operator names the folder
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	return f.Stat()
}

// masterKey checks whether a reader of NATS's files can read secrets.
func (r *Report) masterKey(c *config.Config, m machine) {
	const check = "master key"
	if c.MasterKey == "" && c.MasterKeyFile == "" {
		r.ok(check, "none: a reader of NATS's files can decrypt the secrets of endpoints; see master-key-file")
		return
	}
	if info, err := os.Stat(c.MasterKeyFile); err == nil && m.mode(info)&ofOthers != 0 {
		r.problem(check, "chmod 0600 "+c.MasterKeyFile, "%s can be read by other users (mode %#o)", c.MasterKeyFile, m.mode(info))
		return
	}
	r.ok(check, "the secrets of endpoints are encrypted with the operator's key")
}

// openFiles compares the limits of requests and connections with the limit of open files.
func (r *Report) openFiles(c *config.Config, m machine) {
	const check = "open files"
	limit, err := m.openFiles()
	if err != nil {
		return
	}
	const store, perRequest, perMQTTClient = 1024, 4, 3 // a request has slices, due retries and idle connections beside it
	need := store
	if c.Role != config.API {
		need += perRequest * c.Worker.Concurrency
	}
	if c.Role != config.Worker {
		need += c.Limits.MaxConnections
	}
	if c.MQTT != "" {
		need += perMQTTClient * c.Limits.MaxConnections
	}
	if limit < uint64(need) { //nolint:gosec // the settings are positive
		r.warn(check, "raise the limit, such as LimitNOFILE=65536 of systemd", "the limit is %d, but concurrency and max-connections can need %d", limit, need)
		return
	}
	r.ok(check, "the limit is %d", limit)
}
