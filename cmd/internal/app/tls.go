package app

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"

	"github.com/gridhook/gridhook/config"
	"github.com/gridhook/gridhook/storage/vault"
)

func scheme(p config.KeyPair) string {
	if p == (config.KeyPair{}) {
		return "http://"
	}
	return "https://"
}

// tlsConfig returns a configuration that reloads the certificate when the files change.
func tlsConfig(p config.KeyPair, log *slog.Logger) (*tls.Config, error) {
	c := &certificate{pair: p, log: log}
	if err := c.load(c.stamp()); err != nil {
		return nil, fmt.Errorf("%w: name a certificate and its own key, both in PEM", err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get}, nil
}

// certificate reloads its files when they change. A renewal needs no restart and may
// write one file after the other. Files that cannot be read are read again at each handshake:
// a correction of their permissions does not change the stamp.
type certificate struct {
	pair config.KeyPair
	log  *slog.Logger

	mu     sync.Mutex
	loaded *tls.Certificate
	read   string // stamp of the loaded files
	failed string // error of the last attempt to load the files, already logged
}

// stamp identifies the present versions of the files.
func (c *certificate) stamp() (stamp string) {
	for _, path := range []string{c.pair.Certificate, c.pair.Key} {
		if info, err := os.Stat(path); err == nil {
			stamp += fmt.Sprintln(info.ModTime(), info.Size())
		}
	}
	return stamp
}

func (c *certificate) load(stamp string) error {
	loaded, err := LoadCertificate(c.pair)
	if err != nil {
		return err
	}
	c.loaded, c.read, c.failed = &loaded, stamp, ""
	return nil
}

// LoadCertificate reads a certificate with its key. It returns an error if they do not match.
func LoadCertificate(p config.KeyPair) (tls.Certificate, error) {
	loaded, err := tls.LoadX509KeyPair(p.Certificate, p.Key)
	if err != nil {
		return loaded, fmt.Errorf("read the certificate %s with its key: %w", p.Certificate, err)
	}
	return loaded, nil
}

// get returns the certificate for a handshake.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if stamp := c.stamp(); stamp != c.read {
		err := c.load(stamp)
		switch {
		case err == nil:
			c.log.Info("certificate reloaded", "file", c.pair.Certificate)
		case err.Error() != c.failed:
			c.failed = err.Error()
			c.log.Error("changed certificate unreadable, keeping the previous certificate", "error", err)
		}
	}
	return c.loaded, nil
}

// masterKeys returns the operator's master keys, or none if there are none. It logs their
// identifiers. The start then seals the data key with the first key, so an operator can see
// when the other keys are not needed any more.
func (a *App) masterKeys() ([]vault.MasterKey, error) {
	text := a.MasterKey
	if a.MasterKeyFile != "" {
		b, err := os.ReadFile(a.MasterKeyFile)
		if err != nil {
			return nil, fmt.Errorf("read the master key: %w", err)
		}
		text = string(b)
	}
	keys, err := vault.ParseMasterKeys(text)
	if err == nil && len(keys) > 0 {
		var others []string
		for _, k := range keys[1:] {
			others = append(others, k.ID())
		}
		a.Log.Info("master key read", "key", keys[0].ID(), "others", others)
	}
	return keys, err
}
