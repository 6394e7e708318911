package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/storage"
)

// authFlags are the flags that say how the requests to an endpoint are authorized.
// What is secret comes from files: a command line is seen by others.
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

// fields sets what the flags say.
func (f *authFlags) fields(g *globals, cmd *cobra.Command, out *client.EndpointFields) error {
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
		out.Authentication = client.None[client.Authentication]()
	case f.bearerFile != "":
		out.Authentication = client.Some(client.Authentication{Type: storage.AuthenticationBearer, Token: secret(f.bearerFile)})
	case f.tokenURL != "":
		out.Authentication = client.Some(client.Authentication{
			Type: storage.AuthenticationOAuth2, TokenURL: f.tokenURL, ClientID: f.clientID,
			ClientSecret: secret(f.secretFile), Scopes: f.scopes, Audience: f.audience,
		})
	}
	switch {
	case f.noCert:
		out.ClientCertificate = client.None[client.Certificate]()
	case f.certFile != "":
		out.ClientCertificate = client.Some(client.Certificate{Certificate: secret(f.certFile), PrivateKey: secret(f.keyFile)})
	}
	return err
}
