package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/storage"
)

// authFlags are the flags that configure the authorization of requests to an endpoint.
// Secrets come from files, because other users can see a command line.
type authFlags struct {
	bearerFile, tokenURL, clientID, secretFile, audience string
	scopes                                               []string
	certFile, keyFile                                    string
	none, noCert                                         bool
}

func (f *authFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.bearerFile, "bearer-token-file", "", "authorize with the bearer token in a `file`, - for standard input")
	flags.StringVar(&f.tokenURL, "oauth-token-url", "", "authorize with tokens asked for at this `URL`, by OAuth 2 client credentials")
	flags.StringVar(&f.clientID, "oauth-client-id", "", "the client's `name` there")
	flags.StringVar(&f.secretFile, "oauth-client-secret-file", "", "the `file` with the client's secret, - for standard input")
	flags.StringSliceVar(&f.scopes, "oauth-scope", nil, "a `scope` to ask for; may be repeated")
	flags.StringVar(&f.audience, "oauth-audience", "", "the audience to ask for, where the token endpoint needs it")
	flags.BoolVar(&f.none, "no-authentication", false, "authorize with nothing but the signature")
	flags.StringVar(&f.certFile, "client-cert", "", "the `file` with the client certificate's chain in PEM, for mutual TLS")
	flags.StringVar(&f.keyFile, "client-key", "", "the `file` with its private key in PEM")
	flags.BoolVar(&f.noCert, "no-client-cert", false, "show no client certificate")
	cmd.MarkFlagsMutuallyExclusive("bearer-token-file", "oauth-token-url", "no-authentication")
	cmd.MarkFlagsMutuallyExclusive("bearer-token-file", "oauth-client-secret-file")
	cmd.MarkFlagsRequiredTogether("oauth-token-url", "oauth-client-id")
	cmd.MarkFlagsMutuallyExclusive("client-cert", "no-client-cert")
}

// prepare adds the flags' values to a request. A null field removes the setting from the
// endpoint: --no-authentication and --no-client-cert send null.
func (f *authFlags) prepare(g *globals) func(*cobra.Command, []string, fields) error {
	return func(cmd *cobra.Command, _ []string, body fields) error {
		given := cmd.Flags().Changed
		for _, name := range []string{"oauth-client-secret-file", "oauth-scope", "oauth-audience"} {
			if given(name) && f.tokenURL == "" {
				return usagef("--%s needs --oauth-token-url: what is said of OAuth 2 is said as a whole", name)
			}
		}
		if given("client-key") && f.certFile == "" {
			return usagef("--client-key needs --client-cert")
		}
		var err error
		secret := func(file string) string {
			if file == "" || err != nil {
				return ""
			}
			var text []byte
			text, err = g.readFile(file)
			return strings.TrimSpace(string(text))
		}
		switch {
		case f.none:
			body["authentication"] = nil
		case f.bearerFile != "":
			body["authentication"] = client.Authentication{Type: storage.AuthenticationBearer, Token: secret(f.bearerFile)}
		case f.tokenURL != "":
			body["authentication"] = client.Authentication{
				Type: storage.AuthenticationOAuth2, TokenURL: f.tokenURL, ClientID: f.clientID,
				ClientSecret: secret(f.secretFile), Scopes: f.scopes, Audience: f.audience,
			}
		}
		switch {
		case f.noCert:
			body["clientCertificate"] = nil
		case f.certFile != "":
			body["clientCertificate"] = client.Certificate{Certificate: secret(f.certFile), PrivateKey: secret(f.keyFile)}
		}
		return err
	}
}
