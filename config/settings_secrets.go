package config

import (
	"encoding/base64"
	"os"
	"slices"
	"strings"
)

// secretSettings are of keys and certificates.
func secretSettings() []Setting {
	return slices.Concat(
		certificate("tls", answering, "the API for partners, PEM, read again when it changes", "; by default there is no TLS", func(c *Config) *KeyPair { return &c.TLS }),
		certificate("admin-tls", everywhere, "the admin address, PEM, read again when it changes", "; by default there is no TLS", func(c *Config) *KeyPair { return &c.AdminTLS }),
		masterKeySettings(),
	)
}

// certificate is a pair of settings, each of which needs the other.
func certificate(prefix string, roles []Role, whose, byDefault string, of func(*Config) *KeyPair) []Setting {
	cert, key := prefix+"-cert", prefix+"-key"
	return []Setting{
		{
			Name: cert, Roles: roles,
			Help:  "the file of the certificate of " + whose + "; needs " + key + byDefault,
			field: func(c *Config) any { return &of(c).Certificate }, check: func(c *Config) string { return pair(of(c).Certificate, of(c).Key, key) },
		},
		{
			Name: key, Roles: roles,
			Help:  "the file of that certificate's private key, PEM; needs " + cert,
			field: func(c *Config) any { return &of(c).Key }, check: func(c *Config) string { return pair(of(c).Key, of(c).Certificate, cert) },
		},
	}
}

func masterKeySettings() []Setting {
	return []Setting{
		{
			Name: "master-key", Roles: everywhere, secret: true, shown: masked,
			Help:  "the key that the secrets of endpoints are locked with, the base64 of 32 random bytes; several with commas between them while it is changed, the first of which locks; by default there is none",
			field: func(c *Config) any { return &c.MasterKey }, check: masterKey,
		},
		{
			Name: "master-key-file", Roles: everywhere,
			Help:  "a file with that key, or several in lines of their own",
			field: func(c *Config) any { return &c.MasterKeyFile }, check: masterKeyFile,
		},
	}
}

const rightMasterKey = "must be the base64 of 32 random bytes, as \"openssl rand -base64 32\" makes, or several"

func masterKey(c *Config) string {
	if c.MasterKey != "" && c.MasterKeyFile != "" {
		return "must be left out where there is a master-key-file"
	}
	return masterKeys(c.MasterKey)
}

func masterKeys(text string) string {
	for _, key := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r <= ' ' }) {
		if b, err := base64.StdEncoding.DecodeString(key); err != nil || len(b) != 32 {
			return rightMasterKey
		}
	}
	return ""
}

func masterKeyFile(c *Config) string {
	if right := readable(c.MasterKeyFile); right != "" || c.MasterKeyFile == "" {
		return right
	}
	text, err := os.ReadFile(c.MasterKeyFile)
	if err != nil {
		return "must be a file that can be read: " + cause(err)
	}
	if len(strings.TrimSpace(string(text))) == 0 || masterKeys(string(text)) != "" {
		return "must be a file with a key in each line: each " + rightMasterKey
	}
	return ""
}
