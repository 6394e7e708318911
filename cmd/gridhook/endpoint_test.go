package main

import (
	"strings"
	"testing"
)

const endpointText = "endpoint  ep_1\nurl       https://example.com/h\nevents    all\nenabled   true\nmode      always\ntimeout   10 s\n"

// endpointWith returns an endpoint with more fields.
func endpointWith(fields string) string { return strings.Replace(endpointJSON, "{", "{"+fields+",", 1) }

func TestEndpoint_Settings(t *testing.T) {
	for _, test := range []struct{ args, path, body, answer, out string }{
		{
			"update ep_1 --retry-initial 1s --retry-multiplier 1.5 --retry-max 90 --give-up 0 --disable-after 48h", "ep_1/update",
			`{"retryPolicy":{"initialSeconds":1,"multiplier":1.5,"maxSeconds":90,"giveUpSeconds":0,"disableAfterSeconds":172800}}`,
			endpointWith(`"headers":{"X-Site":"********","A":"********"},"retryPolicy":{"initialSeconds":1,"multiplier":1.5,"maxSeconds":90,"giveUpSeconds":3600,"disableAfterSeconds":172800}`),
			endpointText + "retries   after up to 1s, then 1.5 times as long each, up to 1m30s, for 1h; disabled after 48h\nheaders   A,X-Site\n",
		},
		{"get ep_1", "ep_1/get", `{}`, endpointWith(`"retryPolicy":{"giveUpSeconds":0}`), endpointText + "retries   none; never disabled\n"},
		{
			"create --url https://example.com/h --give-up 1h --secret-file -", "create", `{"url":"https://example.com/h","retryPolicy":{"giveUpSeconds":3600},"secret":"whsec_1"}`,
			endpointWith(`"secret":"whsec_1"`), endpointText + "secret    whsec_1\n\n" + secretNote + "\n",
		},
		{
			"rotate-secret ep_1 --signature hmac --secret-file -", "ep_1/rotate_secret", `{"signature":"hmac","secret":"whsec_1"}`,
			endpointWith(`"secret":"whsec_1"`), endpointText + "secret    whsec_1\n\n" + secretNote + "\n\nThe old one also signs for 24 hours. Configure the new secret or public key in the receiver by then.\n",
		},
		{
			"rotate-secret ep_1 --signature ed25519", "ep_1/rotate_secret", `{"signature":"ed25519"}`,
			endpointWith(`"publicKey":"whpk_1","secret":""`), "endpoint    ep_1\nurl         https://example.com/h\nevents      all\nenabled     true\nmode        always\n" +
				"timeout     10 s\npublic key  whpk_1\n\nThe old one also signs for 24 hours. Configure the new secret or public key in the receiver by then.\n",
		},
	} {
		f := newFake(t)
		f.on("/v1/webhook/endpoints/"+test.path, ok(test.answer))
		got := run(t, f, "whsec_1\n", strings.Fields("endpoint "+test.args+" --org acme"))
		if got.code != 0 || got.out != test.out || !sameJSON(t, f.last().body, test.body) {
			t.Errorf("%s: exit %d, %s; it sent %s and shows\n%swant\n%s", test.args, got.code, got.err, f.last().body, got.out, test.out)
		}
	}
}

// TestClear checks that an empty text clears headers and parameters.
func TestClear(t *testing.T) {
	for args, test := range map[string]struct{ path, body, answer string }{
		"endpoint update ep_1 --header": {"/v1/webhook/endpoints/ep_1/update", `{"headers":{}}`, endpointJSON},
		"source update np15 --param":    {"/v1/admin/sources/np15/update", `{"organizationId":"acme","parameters":{}}`, sourceJSON},
	} {
		f := newFake(t)
		f.on(test.path, ok(test.answer))
		got := run(t, f, "", append(strings.Fields(args), "", "--org", "acme"))
		if got.code != 0 || !sameJSON(t, f.last().body, test.body) {
			t.Errorf("%s: exit %d, %s; it sent %s", args, got.code, got.err, f.last().body)
		}
	}
}
