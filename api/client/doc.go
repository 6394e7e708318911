// Package client calls a Gridhook server. It has a method for most operations, and Call
// for every other one, typed responses and one typed error.
//
// A partner calls the public address with an API key of its organization:
//
//	c := client.Client{BaseURL: "https://gridhook.example.com", Key: os.Getenv("GRIDHOOK_API_KEY")}
//	trigger, err := c.Trigger(ctx, client.TriggerRequest{})
//
// An operator calls the admin address with the operator's key. Only the admin address
// serves the operator's operations (organizations, keys, homes, plans, imports). For an
// operation of partners, the operator names the organization in Client.Organization.
//
// The package depends on the standard library and Gridhook's data types. It does not
// depend on the server.
package client
