package main

import (
	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/storage"
)

// authFlags are the flags that configure the authorization of requests to an endpoint.
// Secrets come from files, because other users can see a command line. A null field
// removes the setting from the endpoint.
func authFlags() []bodyFlag {
	const authentication, certificate = "authentication", "clientCertificate"
	return []bodyFlag{
		{name: "bearer-token-file", field: authentication + ".token", value: textFile, help: "`file` with the bearer token to send, - for standard input"},
		{name: "oauth-token-url", field: authentication + ".tokenUrl", help: "token `URL` of OAuth 2 client credentials"},
		{name: "oauth-client-id", field: authentication + ".clientId", help: "client `identifier` at the token URL"},
		{name: "oauth-client-secret-file", field: authentication + ".clientSecret", value: textFile, help: "`file` with the client secret, - for standard input"},
		{name: "oauth-scope", field: authentication + ".scopes", value: []string{}, help: "`scope` to request; repeatable"},
		{name: "oauth-audience", field: authentication + ".audience", help: "`audience` to request, if the token URL requires one"},
		{name: "no-authentication", field: authentication, value: sets{nil}, help: "removal of the authentication; only the signature remains"},
		{name: "client-cert", field: certificate + ".certificate", value: textFile, help: "`file` with the client certificate's chain for mutual TLS, PEM"},
		{name: "client-key", field: certificate + ".privateKey", value: textFile, help: "`file` with the client certificate's private key, PEM"},
		{name: "no-client-cert", field: certificate, value: sets{nil}, help: "removal of the client certificate"},
	}
}

// withAuth adds the rules of the authorization flags to a command.
func withAuth(cmd *cobra.Command) *cobra.Command {
	cmd.MarkFlagsMutuallyExclusive("bearer-token-file", "oauth-token-url", "no-authentication")
	cmd.MarkFlagsMutuallyExclusive("bearer-token-file", "oauth-client-secret-file")
	cmd.MarkFlagsRequiredTogether("oauth-token-url", "oauth-client-id")
	cmd.MarkFlagsMutuallyExclusive("client-cert", "no-client-cert")
	return cmd
}

// checkAuth checks that the flags describe a complete authorization. It adds the type.
func checkAuth(cmd *cobra.Command, _ []string, body fields) error {
	for _, name := range []string{"oauth-client-secret-file", "oauth-scope", "oauth-audience"} {
		if given(cmd, name) && !given(cmd, "oauth-token-url") {
			return usagef("--%s needs --oauth-token-url: the OAuth 2 settings are replaced as a whole", name)
		}
	}
	if given(cmd, "client-key") && !given(cmd, "client-cert") {
		return usagef("--client-key needs --client-cert")
	}
	if authentication, ok := body["authentication"].(fields); ok {
		authentication["type"] = storage.AuthenticationBearer
		if given(cmd, "oauth-token-url") {
			authentication["type"] = storage.AuthenticationOAuth2
		}
	}
	return nil
}
