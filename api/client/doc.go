// Package client calls a Gridhook server: a method for each operation, typed
// answers, and one typed error.
//
// A partner calls the public address with an API key of its organization:
//
//	c := client.Client{BaseURL: "https://gridhook.example.com", Key: os.Getenv("GRIDHOOK_API_KEY")}
//	trigger, err := c.Trigger(ctx, client.TriggerRequest{})
//
// An operator calls the admin address with the operator's key. The operations of
// the operator (organizations, keys, homes, plans, imports) are there alone; for
// those of partners, Organization names whom to act for.
//
// The package needs the standard library and Gridhook's nouns, and nothing of
// the server.
package client
