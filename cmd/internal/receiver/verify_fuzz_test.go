package receiver

import (
	"net/http"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// Any delivery that verifies was signed with the secret: the reference library agrees,
// and a changed body does not verify. A delivery that does not verify has a reason.
func FuzzVerify(f *testing.F) {
	valid := signed(f, "msg_1", arrival, event, theirs, mine)
	f.Add(valid.Get("webhook-id"), valid.Get("webhook-timestamp"), valid.Get("webhook-signature"), []byte(event))
	f.Add("msg_1", "1782907200", "v1,", []byte(event))
	f.Add("msg_1", "-9223372036854775808", "v1a,AAAA v1,AAAA", []byte{})
	f.Add("", "1e9", "v1", []byte("\xff"))
	reference, err := standardwebhooks.NewWebhook(mine)
	if err != nil {
		f.Fatal(err)
	}
	public, _ := pair('k')
	v, err := NewVerifier(public, mine)
	if err != nil {
		f.Fatal(err)
	}
	v.AnyAge = true
	f.Fuzz(func(t *testing.T, id, timestamp, signature string, body []byte) {
		h := http.Header{}
		h.Set("webhook-id", id)
		h.Set("webhook-timestamp", timestamp)
		h.Set("webhook-signature", signature)
		d, err := v.Verify(h, body)
		if err != nil {
			if err.Error() == "" {
				t.Error("there is no reason")
			}
			return
		}
		if d.Secret != 2 || d.ID != id || reference.VerifyIgnoringTimestamp(body, h) != nil {
			t.Errorf("%+v verifies, and the reference library refuses it", d)
		}
		if _, err := v.Verify(h, append(body[:len(body):len(body)], ' ')); err == nil {
			t.Error("a changed body verifies")
		}
	})
}
