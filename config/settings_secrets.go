package config

import (
	"encoding/base64"
	"os"
	"strings"
)

// secretSettings are of keys and certificates.
func secretSettings() []Setting {
	return []Setting{
		{
			Name: "tls-cert", Roles: answering,
			Help:  "the file of the certificate of the API for partners, PEM, read again when it changes; needs tls-key; by default there is no TLS",
			field: func(c *Config) any { return &c.TLS.Certificate }, check: func(c *Config) string { return pair(c.TLS.Certificate, c.TLS.Key, "tls-key") },
		},
		{
			Name: "tls-key", Roles: answering,
			Help:  "the file of that certificate's private key, PEM; needs tls-cert",
			field: func(c *Config) any { return &c.TLS.Key }, check: func(c *Config) string { return pair(c.TLS.Key, c.TLS.Certificate, "tls-cert") },
		},
		{
			Name: "admin-tls-cert", Roles: everywhere,
			Help:  "the file of the certificate of the admin address, PEM, read again when it changes; needs admin-tls-key; by default there is no TLS",
			field: func(c *Config) any { return &c.AdminTLS.Certificate }, check: func(c *Config) string { return pair(c.AdminTLS.Certificate, c.AdminTLS.Key, "admin-tls-key") },
		},
		{
			Name: "admin-tls-key", Roles: everywhere,
			Help:  "the file of that certificate's private key, PEM; needs admin-tls-cert",
			field: func(c *Config) any { return &c.AdminTLS.Key }, check: func(c *Config) string { return pair(c.AdminTLS.Key, c.AdminTLS.Certificate, "admin-tls-cert") },
		},
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
